#include <exception>
#include <iostream>

#include "outrider/error.h"

#include "cli/exit_code.h"
#include "cli/parser.h"
#include "config/secret_url.h"

namespace {

int complain(outrider::cli::ExitCode code, const char* text) {
    std::cerr << "outrider: " << outrider::mask_secrets(text) << '\n';
    return code;
}

}  // namespace

int main(int count, char** arguments) {
    using namespace outrider::cli;
    try {
        return parse_command_line({arguments, static_cast<std::size_t>(count)})();
    } catch (const Stop& stop) {
        return complain(stop.code(), stop.what());
    } catch (const outrider::Failure& failure) {
        const bool away = failure.remedy() == outrider::Remedy::wait;
        return complain(away ? kCannotConnect : kFailed, failure.what());
    } catch (const std::exception& error) {
        return complain(kFailed, error.what());
    }
}
