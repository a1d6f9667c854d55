#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

#include "brokers/wire/options.h"
#include "brokers/wire/url.h"

namespace outrider::wire {

// Reads the options behind the question mark of a broker's URL. Each call takes the value of one
// name, if it is there, into a field; finish() says what was wrong, or which names nobody took. The
// first error wins. One thread at a time.
class Parameters {
public:
    explicit Parameters(std::vector<Parameter> parameters) : left_(std::move(parameters)) {}

    void text(std::string_view name, std::string& to);
    void number(std::string_view name, std::uint64_t& to);

    // "250ms", "5s", "1m".
    void duration(std::string_view name, Duration& to);

    // "true" or "false".
    void flag(std::string_view name, bool& to);

    // One of the choices; `to` becomes its place among them.
    void choice(std::string_view name, const std::vector<std::string_view>& choices, int& to);

    // target, format and source. Where they are said elsewhere they are refused here.
    void wire(Options& to);

    // tls_ca, tls_cert and tls_key, which only URLs of the scheme with TLS have.
    void tls(Tls& to, std::string_view scheme);

    [[nodiscard]] Result<void> finish() const;

private:
    // Removes the parameter. False: it is not there.
    [[nodiscard]] bool take(std::string_view name, std::string& value);
    void complain(std::string_view name, std::string_view expected);
    void object(std::string text);
    void refuse_wire();

    std::vector<Parameter> left_;
    std::vector<std::string> known_;
    std::string complaint_;
};

}  // namespace outrider::wire
