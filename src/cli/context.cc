#include "cli/context.h"

#include <iostream>

#include <unistd.h>

#include "cli/drivers.h"

namespace outrider::cli {
namespace {

void require_store(LoadedConfig& loaded) {
    if (!loaded.config.store.empty() || !loaded.is_whole) return;
    loaded.problems.push_back(
        {{"store.url"},
         "no store is configured: write [store] url = \"sqlite:///var/lib/shop/shop.db\" in the "
         "configuration file, set OUTRIDER_STORE_URL, or use --store",
         {}}
    );
}

LoadedConfig read_sources(const CommonArguments& common) {
    const std::vector<std::string> variables = environment();
    LoadedConfig loaded = load_config(
        {.file = choose_config_file(common.config_file, variables),
         .environment = variables,
         .flags = common.flags}
    );
    require_store(loaded);
    return loaded;
}

Config refuse_problems(LoadedConfig loaded) {
    if (loaded.problems.empty()) return std::move(loaded.config);
    std::string text;
    for (const Problem& problem : loaded.problems) {
        if (!text.empty()) text += "\noutrider: ";
        text += to_string(problem);
    }
    throw Stop(kUsage, text);
}

void append(Problems& problems, Problems more) {
    problems.insert(
        problems.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end())
    );
}

}  // namespace

std::vector<std::string> environment() {
    std::vector<std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        variables.emplace_back(*entry);
    }
    return variables;
}

LoadedConfig read_config(const CommonArguments& common) {
    LoadedConfig loaded = read_sources(common);
    append(loaded.problems, check_store(loaded.config));
    append(loaded.problems, check_brokers(loaded.config));
    return loaded;
}

Config load(const CommonArguments& common) {
    return refuse_problems(read_config(common));
}

Config load_for_store(const CommonArguments& common) {
    LoadedConfig loaded = read_sources(common);
    append(loaded.problems, check_store(loaded.config));
    return refuse_problems(std::move(loaded));
}

void fail_to_open(const Config& config, const Error& error) {
    const std::string url = config.store.masked();
    if (config.layout == StoreLayout::table) {
        const bool away = error.remedy == Remedy::wait;
        throw Stop(away ? kCannotConnect : kFailed, url + ": " + error.text);
    }
    const bool is_made_by_us = url.starts_with("sqlite:");
    throw Stop(
        kCannotConnect,
        "cannot open the store " + url + ": " + error.text + ": check store.url" +
            (is_made_by_us ? ", or create it with 'outrider migrate up'" : "")
    );
}

std::unique_ptr<StoreAdmin> open_admin(const Config& config, StoreDriver::IfMissing if_missing) {
    Result<std::unique_ptr<StoreAdmin>> admin = open_store(config)->open_admin(if_missing);
    if (!admin) fail_to_open(config, admin.error());
    return std::move(admin).value();
}

void require_schema(const SchemaVersion& version) {
    if (version.installed == version.newest) return;
    if (version.installed > version.newest) {
        throw Stop(
            kFailed,
            "the store's tables have version " + std::to_string(version.installed) +
                ", this build knows " + std::to_string(version.newest) + ": use a newer outrider"
        );
    }
    const std::string what =
        version.installed == 0 ? "the store has no Outrider tables" : "the store's tables are old";
    throw Stop(kFailed, what + ": run 'outrider migrate up'");
}

std::unique_ptr<StoreAdmin> open_ready_admin(const Config& config) {
    std::unique_ptr<StoreAdmin> admin = open_admin(config, StoreDriver::IfMissing::fail);
    require_schema(value_of(admin->schema_version()));
    return admin;
}

void fail(const Error& error) {
    throw Stop(error.remedy == Remedy::wait ? kCannotConnect : kFailed, error.text);
}

void print(const std::string& line) {
    std::cout << line << '\n';
    // A full disk must not look like success.
    if (!std::cout.flush()) throw Stop(kFailed, "cannot write to standard output");
}

bool confirm(const std::string& question) {
    if (::isatty(STDIN_FILENO) == 0) {
        throw Stop(kUsage, question + " There is nobody to ask: add --yes");
    }
    std::cerr << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "yes";
}

}  // namespace outrider::cli
