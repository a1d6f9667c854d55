#include "config/config.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "config/print.h"
#include "config/rows.h"

namespace outrider {
namespace {

// Loads a configuration from texts. The file is called outrider.toml in the problems.
class ConfigTest : public ::testing::Test {
protected:
    ConfigTest()
        : folder_(
              std::filesystem::temp_directory_path() /
              ("outrider_config_" + std::to_string(::getpid()))
          ) {
        std::filesystem::create_directories(folder_);
    }
    ~ConfigTest() override { std::filesystem::remove_all(folder_); }

    LoadedConfig load(const std::string& toml) {
        std::ofstream(folder_ / "outrider.toml", std::ios::binary) << toml;
        return load_config(
            {.file = (folder_ / "outrider.toml").string(),
             .environment = environment,
             .flags = flags}
        );
    }

    void set(const std::string& key, const std::string& value) {
        flags.push_back({key, value, {"--set " + key}});
    }

    // All problems, without the folder.
    std::string problems(const std::string& toml) {
        std::string text;
        for (const Problem& problem : load(toml).problems) text += to_string(problem) + "\n";
        const std::string prefix = folder_.string() + "/";
        for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
            text.erase(at, prefix.size());
        }
        return text;
    }

    std::vector<std::string> environment;
    std::vector<ConfigFlag> flags;

private:
    std::filesystem::path folder_;
};

constexpr const char* kShop = R"([store]
url = "sqlite:///var/lib/shop/shop.db"
[[destination]]
name = "orders"
broker = "file:///var/log/shop/orders.jsonl"
topics = ["orders.*"]
)";

TEST_F(ConfigTest, TheExampleOfTheIssueIsRead) {
    const LoadedConfig loaded = load(kShop);
    EXPECT_TRUE(loaded.problems.empty());
    EXPECT_EQ(loaded.config.store.reveal(), "sqlite:///var/lib/shop/shop.db");
    ASSERT_EQ(loaded.config.destinations.size(), 1U);
    const DestinationConfig& orders = loaded.config.destinations[0];
    EXPECT_EQ(orders.rules.name, "orders");
    EXPECT_EQ(orders.rules.topics, std::vector<std::string>{"orders.*"});
    EXPECT_EQ(orders.broker.reveal(), "file:///var/log/shop/orders.jsonl");
    EXPECT_EQ(orders.rules.retry.attempts_max, Retry{}.attempts_max);
}

struct Mistake {
    const char* toml;
    const char* problem;
};

TEST_F(ConfigTest, EveryMistakeIsToldWithPlaceAndNearestName) {
    const Mistake mistakes[] = {
        {"[store]\nulr = \"sqlite:a\"\n",
         "outrider.toml:2:1: unknown key 'store.ulr'; did you mean 'store.url'?\n"},
        {"[stoer]\nurl = \"sqlite:a\"\n",
         "outrider.toml:1:2: unknown table 'stoer'; did you mean 'store'?\n"},
        {"[relay]\n\nretenton = \"1d\"\n",
         "outrider.toml:3:1: unknown key 'relay.retenton'; did you mean 'relay.retention'?\n"},
        {"colour = 1\n",
         "outrider.toml:1:1: unknown key 'colour': expected one of store, relay, log, "
         "destination\n"},
        {"[store]\nretention = \"1d\"\n",
         "outrider.toml:2:1: unknown key 'store.retention'; did you mean 'relay.retention'?\n"},
        {"relay = 5\n",
         "outrider.toml:1:1: 'relay' is a table: write [relay] and its keys below it\n"},
        {"[relay]\nretention = 7\n",
         "outrider.toml:2:1: relay.retention: expected a duration such as \"7d\", not '7'\n"},
        {"[relay]\nidle_poll = \"0\"\n",
         "outrider.toml:2:1: relay.idle_poll: expected a duration such as \"1s\", at least 1ms, "
         "not '0'\n"},
        {"[relay]\nretention = true\n",
         "outrider.toml:2:1: relay.retention: expected a duration such as \"7d\", not a truth "
         "value or a date\n"},
        {"[log]\nlevel = \"wraning\"\n",
         "outrider.toml:2:1: log.level: expected one of debug, info, warning, error, not "
         "'wraning'; did you mean 'warning'?\n"},
        {"[store]\nurl = [\"a\"]\n",
         "outrider.toml:2:1: store.url: expected a URL such as "
         "\"sqlite:///var/lib/shop/shop.db\", not a list\n"},
        {"[destination]\nname = \"a\"\n",
         "outrider.toml:1:2: there may be several destinations: write [[destination]]\n"},
        {"[[destination]]\nbroker = \"stdout:\"\n",
         "outrider.toml:1:1: this destination has no name: write name = \"orders\"\n"},
        {"[[destination]]\nname = \"a\"\n",
         "outrider.toml:1:1: destination 'a' has no broker: write broker = "
         "\"file:///var/log/shop/orders.jsonl\"\n"},
        {"[[destination]]\nname = \"a\"\nbroker = \"stdout:\"\n[destination.retry]\n"
         "attempt_max = 3\n",
         "outrider.toml:5:1: unknown key 'retry.attempt_max'; did you mean "
         "'retry.attempts_max'?\n"},
        {"[[destination]]\nname = \"a\"\nbroker = \"stdout:\"\ntopics = \"orders\"\n",
         "outrider.toml:4:1: destination 'a': topics: expected a list of text such as "
         "[\"orders.*\"], not 'orders'\n"},
        {"[[destination]]\nname = \"a\"\nbroker = \"stdout:\"\nretry.jitter = 1.5\n",
         "outrider.toml:4:7: destination 'a': retry.jitter: expected a number such as 0.2, at "
         "least 0, at most 1, not '1.5'\n"},
        {"[[destination]]\nname = \"a\"\nbroker = \"stdout:\"\nworkers = -1\n",
         "outrider.toml:4:1: destination 'a': workers: expected a whole number such as 1, at "
         "least 1, at most 64, not '-1'\n"},
        {"[[destination]]\nname = \"a b\"\nbroker = \"stdout:\"\n",
         "outrider.toml:1:1: destination 'a b': the name must have 1 to 63 characters: letters, "
         "digits and - _ . : *\n"},
        {"[[destination]]\nname = \"a\"\nbroker = \"stdout:\"\n[destination.retry]\n"
         "delay_max = \"1ms\"\n",
         "outrider.toml:1:1: destination 'a': retry.delay_max is shorter than "
         "retry.delay_first\n"},
        {"[[destination]]\nname = \"a\"\nbroker = \"stdout:\"\n[[destination]]\nname = \"a\"\n"
         "broker = \"stdout:\"\n",
         "outrider.toml:4:1: destination 'a' exists already, at outrider.toml:1:1: each needs a "
         "name of its own\n"},
    };
    for (const Mistake& mistake : mistakes) EXPECT_EQ(problems(mistake.toml), mistake.problem);
}

TEST_F(ConfigTest, AllProblemsAreToldFromTopToBottom) {
    EXPECT_EQ(
        problems("[store]\nxyz = 1\n[log]\nlevel = 3\n[relay]\nretention = \"x\"\n"),
        "outrider.toml:2:1: unknown key 'store.xyz': expected one of url, schema, settle, "
        "wake, lanes, layout, table\n"
        "outrider.toml:4:1: log.level: expected one of debug, info, warning, error, not '3'\n"
        "outrider.toml:6:1: relay.retention: expected a duration such as \"7d\", not 'x'\n"
    );
}

TEST_F(ConfigTest, BrokenTomlAndMissingFilesAreTold) {
    EXPECT_EQ(problems("[store\n").substr(0, 36), "outrider.toml:1:7: not valid TOML: E");
    EXPECT_NE(
        problems("[log]\nlevel = \"info\"\nlevel = \"info\"\n").find("outrider.toml:3:"),
        std::string::npos
    );
    const LoadedConfig loaded = load_config({.file = "/nowhere/outrider.toml"});
    ASSERT_EQ(loaded.problems.size(), 1U);
    EXPECT_EQ(
        to_string(loaded.problems[0]),
        "/nowhere/outrider.toml: cannot read it: No such file or directory"
    );
}

TEST_F(ConfigTest, AFolderOrAGiantIsNoConfiguration) {
    const LoadedConfig loaded = load_config({.file = "/"});
    ASSERT_EQ(loaded.problems.size(), 1U);
    EXPECT_EQ(to_string(loaded.problems[0]), "/: cannot read it: Is a directory");
    EXPECT_EQ(
        problems(std::string((1U << 20U) + 1, '#')),
        "outrider.toml: has more than 1 MiB: that is no configuration\n"
    );
    EXPECT_NE(problems("a = " + std::string(10'000, '[')).find("not valid"), std::string::npos);
}

TEST_F(ConfigTest, AnEmptyFileIsFine) {
    EXPECT_EQ(problems(""), "");
}

TEST_F(ConfigTest, FlagsGoBeforeVariablesGoBeforeTheFile) {
    const std::string toml = "[relay]\nretention = \"1d\"\n";
    EXPECT_EQ(load(toml).config.relay.retention, std::chrono::hours(24));
    environment = {"OUTRIDER_RELAY_RETENTION=2d"};
    EXPECT_EQ(load(toml).config.relay.retention, std::chrono::hours(48));
    set("relay.retention", "3d");
    EXPECT_EQ(load(toml).config.relay.retention, std::chrono::hours(72));
}

TEST_F(ConfigTest, DatabaseUrlIsTheLastResort) {
    environment = {"DATABASE_URL=sqlite:there.db"};
    EXPECT_EQ(load("").config.store.reveal(), "sqlite:there.db");
    EXPECT_EQ(load(kShop).config.store.reveal(), "sqlite:///var/lib/shop/shop.db");
    environment.emplace_back("OUTRIDER_STORE_URL=sqlite:ours.db");
    EXPECT_EQ(load("").config.store.reveal(), "sqlite:ours.db");
    set("store.url", "sqlite:flag.db");
    EXPECT_EQ(load("").config.store.reveal(), "sqlite:flag.db");
}

TEST_F(ConfigTest, UnknownVariablesAreRefused) {
    environment = {"OUTRIDER_STORE_ULR=sqlite:a", "OUTRIDER_CONFIG=x", "HOME=/root"};
    EXPECT_EQ(
        problems(""),
        "environment variable OUTRIDER_STORE_ULR: names nothing that is known; did you mean "
        "'OUTRIDER_STORE_URL'?\n"
    );
    environment = {"OUTRIDER_DESTINATION_ORDERS_RETRY_ATTEMPT_MAX=5"};
    EXPECT_EQ(
        problems(kShop),
        "environment variable OUTRIDER_DESTINATION_ORDERS_RETRY_ATTEMPT_MAX: names nothing that "
        "is known; did you mean 'OUTRIDER_DESTINATION_ORDERS_RETRY_ATTEMPTS_MAX'?\n"
    );
}

TEST_F(ConfigTest, VariablesReachDestinationsByTheirNames) {
    environment = {"OUTRIDER_DESTINATION_AUDIT_LOG_V2_RETRY_ATTEMPTS_MAX=5"};
    const LoadedConfig loaded =
        load("[[destination]]\nname = \"audit-log.v2\"\nbroker = \"stdout:\"\n");
    EXPECT_TRUE(loaded.problems.empty());
    EXPECT_EQ(loaded.config.destinations.at(0).rules.retry.attempts_max, 5U);
}

TEST_F(ConfigTest, AVariableThatFitsTwoDestinationsIsRefused) {
    environment = {"OUTRIDER_DESTINATION_A_B_WORKERS=2"};
    EXPECT_EQ(
        problems("[[destination]]\nname = \"a-b\"\nbroker = \"stdout:\"\n[[destination]]\n"
                 "name = \"a_b\"\nbroker = \"stdout:\"\n"),
        "environment variable OUTRIDER_DESTINATION_A_B_WORKERS: fits two destinations, 'a-b' and "
        "'a_b': set the value in the file or with --set\n"
    );
}

TEST_F(ConfigTest, DestinationsCanBeMadeByFlagAndVariable) {
    set("destination.audit.v2.broker", "stdout:");
    set("destination.audit.v2.retry.jitter", "0.5");
    environment = {"OUTRIDER_DESTINATION_COPY_BROKER=file:copy.jsonl"};
    const LoadedConfig loaded = load(kShop);
    EXPECT_TRUE(loaded.problems.empty());
    ASSERT_EQ(loaded.config.destinations.size(), 3U);
    EXPECT_EQ(loaded.config.destinations[1].rules.name, "audit.v2");
    EXPECT_EQ(loaded.config.destinations[1].rules.retry.jitter, 0.5);
    EXPECT_EQ(loaded.config.destinations[2].rules.name, "copy");
}

TEST_F(ConfigTest, AMisspeltDestinationIsNotMadeInSilence) {
    set("destination.ordres.workers", "2");
    EXPECT_EQ(
        problems(kShop),
        "--set destination.ordres.workers: destination 'ordres' has no broker: write broker = "
        "\"file:///var/log/shop/orders.jsonl\"; did you mean 'orders'?\n"
    );
}

TEST_F(ConfigTest, UnknownFlagKeysAreRefused) {
    set("relay.retenton", "1d");
    set("destination.orders.retry.attempt_max", "1");
    set("destination.orders.name", "x");
    EXPECT_EQ(
        problems(kShop),
        "--set relay.retenton: unknown key 'relay.retenton'; did you mean 'relay.retention'?\n"
        "--set destination.orders.retry.attempt_max: unknown key "
        "'destination.orders.retry.attempt_max'; did you mean "
        "'destination.orders.retry.attempts_max'?\n"
        "--set destination.orders.name: the name is a part of the key: write "
        "destination.NAME.broker=URL\n"
    );
}

TEST_F(ConfigTest, SecretsAreNeverPrinted) {
    environment = {"OUTRIDER_STORE_URL=postgres://shop:hunter2@db/shop?sslpassword=hunter3"};
    set("destination.orders.broker", "amqp://relay:hunter4@mq/");
    const LoadedConfig loaded = load(kShop);
    for (const std::string& text : {to_toml(loaded.config), to_json(loaded.config)}) {
        EXPECT_EQ(text.find("hunter"), std::string::npos) << text;
        EXPECT_NE(text.find("postgres://shop:***@db/shop?sslpassword=***"), std::string::npos);
        EXPECT_NE(text.find("amqp://relay:***@mq/"), std::string::npos);
    }
}

TEST_F(ConfigTest, WhatIsPrintedCanBeReadAgain) {
    set("destination.orders.payload_bytes_max", "64KiB");
    set("destination.orders.after_death", "hold");
    const std::string printed = to_toml(load(kShop).config);
    flags.clear();
    const LoadedConfig again = load(printed);
    EXPECT_TRUE(again.problems.empty()) << printed;
    EXPECT_EQ(to_toml(again.config), printed);
}

std::string last_choice(const OptionRow& row) {
    return std::string(row.choices.substr(row.choices.rfind('|') + 1));
}

// A value that is not the default, to see it arrive.
std::string other_value(const OptionRow& row) {
    switch (row.kind) {
        case Kind::text:
            return "other";
        case Kind::url:
            return "file:other.jsonl";
        case Kind::duration:
            return row.name.ends_with("_first") ? "77ms" : "123m";
        case Kind::count:
            if (!row.choices.empty()) return last_choice(row);
            return "17";
        case Kind::bytes:
            return "3MiB";
        case Kind::number:
            return "0.75";
        case Kind::choice:
            return last_choice(row);
        case Kind::list:
            return "a.*";
    }
    return "";
}

std::string toml_value(const OptionRow& row) {
    const std::string value = other_value(row);
    if (row.kind == Kind::count || row.kind == Kind::number) return value;
    return row.kind == Kind::list ? "[\"" + value + "\"]" : "\"" + value + "\"";
}

TEST_F(ConfigTest, EveryGlobalRowIsReadFromFileVariableAndFlagAndPrinted) {
    for (const GlobalRow& row : global_rows()) {
        const std::string name(row.option.name);
        const std::string wanted = other_value(row.option);
        Config defaults;
        EXPECT_NE(show(row.option, row.field(defaults)), wanted) << name;
        const auto expect_read = [&](LoadedConfig loaded) {
            EXPECT_EQ(show(row.option, row.field(loaded.config)), wanted) << name;
            const std::string last = name.substr(name.rfind('.') + 1);
            const std::string line = last + " = " + toml_value(row.option) + "\n";
            EXPECT_NE(to_toml(loaded.config).find(line), std::string::npos) << line;
        };
        expect_read(load(name + " = " + toml_value(row.option) + "\n"));
        environment = {"OUTRIDER_" + environment_name(name) + "=" + wanted};
        expect_read(load(""));
        environment.clear();
        set(name, wanted);
        expect_read(load(""));
        flags.clear();
    }
}

TEST_F(ConfigTest, EveryDestinationRowIsReadFromFileVariableAndFlagAndPrinted) {
    const std::string head = "[[destination]]\nname = \"orders\"\n";
    for (const DestinationRow& row : destination_rows()) {
        const std::string name(row.option.name);
        if (name == "name") continue;  // it is part of the key itself
        const std::string wanted = other_value(row.option);
        DestinationConfig defaults;
        EXPECT_NE(show(row.option, row.field(defaults)), wanted) << name;
        const auto expect_read = [&](LoadedConfig loaded) {
            DestinationConfig& one = loaded.config.destinations.at(0);
            EXPECT_EQ(show(row.option, row.field(one)), wanted) << name;
            const std::string last = name.substr(name.rfind('.') + 1);
            const std::string line = last + " = " + toml_value(row.option) + "\n";
            EXPECT_NE(to_toml(loaded.config).find(line), std::string::npos) << line;
        };
        expect_read(load(head + name + " = " + toml_value(row.option) + "\n"));
        environment = {"OUTRIDER_DESTINATION_ORDERS_" + environment_name(name) + "=" + wanted};
        expect_read(load(head));
        environment.clear();
        set("destination.orders." + name, wanted);
        expect_read(load(head));
        flags.clear();
    }
}

TEST(Rows, EveryRowIsComplete) {
    const auto check = [](const OptionRow& row, const Field& field) {
        EXPECT_FALSE(row.sentence.empty()) << row.name;
        EXPECT_TRUE(row.sentence.ends_with('.')) << row.name;
        // A count may have choices as well: powers of two.
        EXPECT_EQ(row.kind == Kind::choice, !row.choices.empty() && row.kind != Kind::count)
            << row.name;
        EXPECT_EQ(row.kind == Kind::url, row.secret) << row.name;
        Node example;
        example.text = row.example;
        EXPECT_FALSE(assign(row, field, example)) << row.name;
    };
    Config config;
    for (const GlobalRow& row : global_rows()) check(row.option, row.field(config));
    DestinationConfig destination;
    for (const DestinationRow& row : destination_rows()) {
        check(row.option, row.field(destination));
    }
}

}  // namespace
}  // namespace outrider
