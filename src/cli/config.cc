#include "config/config.h"

#include <iostream>

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/verbs.h"
#include "config/print.h"

namespace outrider::cli {
namespace {

std::vector<std::string> lines_of(const Problems& problems) {
    std::vector<std::string> lines;
    for (const Problem& problem : problems) lines.push_back(to_string(problem));
    return lines;
}

void complain(const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) std::cerr << "outrider: " << problem << '\n';
}

}  // namespace

int config_check(const CommonArguments& common) {
    const std::vector<std::string> problems = lines_of(read_config(common).problems);
    if (common.json) {
        print(admin::check_document(problems));
    } else if (problems.empty()) {
        print("the configuration is fine");
    } else {
        complain(problems);
    }
    return problems.empty() ? kFine : kUsage;
}

int config_reference(const CommonArguments& common) {
    const std::string text = common.json ? reference_json() : reference_toml();
    print(text.substr(0, text.find_last_not_of('\n') + 1));
    return kFine;
}

// Prints what there is even if something is wrong with it: that is when one wants to see it.
int config_print(const CommonArguments& common) {
    const LoadedConfig loaded = read_config(common);
    if (common.json) {
        print(to_json(loaded.config));
    } else {
        const std::string text = to_toml(loaded.config);
        print(text.substr(0, text.find_last_not_of('\n') + 1));
    }
    complain(lines_of(loaded.problems));
    return loaded.problems.empty() ? kFine : kUsage;
}

}  // namespace outrider::cli
