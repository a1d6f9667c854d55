// The only file that knows the library that reads command lines: it takes seven seconds to compile.

#include "cli/parser.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/completion.h"
#include "cli/context.h"
#include "cli/exit_code.h"
#include "cli/footer.h"
#include "cli/message_json.h"
#include "cli/verbs.h"
#include "config/values.h"
#include "core/nearest.h"

namespace outrider::cli {
namespace {

// Everything the parser fills in. It lives as long as the verb that reads it.
struct Line {
    CommonArguments common;
    std::vector<std::string> sets;
    std::string store;
    std::string log_level;
    std::string log_format;
    bool all_keys = false;
    RelayArguments relay;
    EnqueueArguments enqueue;
    StatusArguments status;
    DeadArguments dead;
    ReplayArguments replay;
    AdoptArguments adopt;
    DestinationArguments destination;
    DemoOptions demo;
    std::string shell;
    ImportArguments import;
    DispatchArguments dispatch;
    Verb verb;
};

using LinePointer = std::shared_ptr<Line>;

void add_common(CLI::App& app, Line& line) {
    app.add_option("--config", line.common.config_file, "The configuration file")
        ->type_name("FILE");
    app.add_option("--store", line.store, "The store, instead of store.url")->type_name("URL");
    app.add_option("--set", line.sets, "Any key of the configuration; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    app.add_option("--log-level", line.log_level, "debug, info, warning or error")
        ->type_name("LEVEL");
    app.add_option("--log-format", line.log_format, "logfmt or json")->type_name("FORMAT");
    app.add_flag("--json", line.common.json, "Print data as JSON");
}

CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& sentence) {
    return *app.add_subcommand(name, sentence);
}

// What is counted: digits, and not nothing.
std::string not_a_count(const std::string& text) {
    const std::optional<std::uint64_t> count = parse_count(text);
    return count.value_or(0) > 0 ? "" : "expected a whole number from 1 on, not '" + text + "'";
}

// A verb that, once its arguments are read, is what there is to do.
template <class Run>
void on_parsed(CLI::App& verb, Line& line, Run run) {
    verb.callback([&line, run] { line.verb = run; });
}

void add_demo(CLI::App& app, Line& line) {
    CLI::App& verb = add_verb(app, "demo", "Show everything in 20 seconds, without a server");
    verb.add_flag("--keep", line.demo.keep, "Go on until Ctrl-C");
    verb.add_option("--seconds", line.demo.seconds, "How long it takes otherwise")
        ->type_name("N")
        ->check(not_a_count, "");
    verb.add_option(
            "--folder", line.demo.folder, "Where its files go and stay; default a temporary folder"
    )
        ->type_name("FILE");
    verb.add_flag("--plain", line.demo.plain, "No colours, no redrawing");
    verb.footer("Example:\n  outrider demo --seconds 5");
    on_parsed(verb, line, [&line] {
        line.demo.json = line.common.json;
        return run_demo(line.demo);
    });
}

void add_migrate(CLI::App& app, Line& line) {
    CLI::App& group = add_verb(app, "migrate", "Create or update Outrider's tables");
    group.require_subcommand(1);
    group.footer("Examples:\n  outrider migrate up\n  outrider migrate print > outrider.sql");
    CLI::App& up = add_verb(group, "up", "Bring the tables to the newest version");
    on_parsed(up, line, [&line] { return migrate_up(line.common); });
    CLI::App& status = add_verb(group, "status", "Say which version they have");
    on_parsed(status, line, [&line] { return migrate_status(line.common); });
    CLI::App& print_sql = add_verb(group, "print", "Print the SQL, for a DBA");
    on_parsed(print_sql, line, [&line] { return migrate_print(line.common); });
}

void add_enqueue(CLI::App& app, Line& line) {
    CLI::App& verb = add_verb(app, "enqueue", "Write a message in a transaction of its own");
    EnqueueArguments& to = line.enqueue;
    verb.add_option("TOPIC", to.topic, "Where it goes");
    CLI::Option* payload = verb.add_option("PAYLOAD", to.payload, "The content; default empty");
    verb.add_flag("--stdin", to.from_stdin, "Take the payload from standard input");
    verb.add_flag("--jsonl", to.jsonl, "One JSON object per line of standard input, all or none");
    verb.add_option("--key", to.key, "What it is ordered by")->type_name("TEXT");
    verb.add_option("--type", to.type, "What sort of message it is")->type_name("TEXT");
    verb.add_option("--content-type", to.content_type, "How to read the payload")
        ->type_name("TEXT");
    verb.add_option("--header", to.headers, "A header; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    verb.add_option("--id", to.id, "The caller's own id")->type_name("UUID");
    verb.add_option("--deliver-after", to.deliver_after, "Not before, e.g. +5m")->type_name("TIME");
    verb.footer(
        "Names of a line of --jsonl, of which only topic is needed:\n  " + message_json_names() +
        "\n\nExamples:\n  outrider enqueue orders.placed '{\"id\":1}' --key customer-1\n"
        "  outrider enqueue --jsonl < messages.jsonl"
    );
    on_parsed(verb, line, [&line, payload] {
        line.enqueue.has_payload = payload->count() > 0;
        return enqueue_message(line.common, line.enqueue);
    });
}

void add_relay(CLI::App& app, Line& line) {
    CLI::App& verb = add_verb(app, "relay", "Carry messages to their destinations");
    CLI::Option* drain =
        verb.add_flag("--drain", line.relay.drain, "End when nothing is left to do (exit 0 or 3)");
    verb.add_option("--timeout", line.relay.timeout, "End a drain after this time (exit 4)")
        ->type_name("DURATION")
        ->needs(drain);
    verb.add_flag("--migrate", line.relay.migrate, "Create or update the tables first");
    verb.footer("Examples:\n  outrider relay\n  outrider relay --drain --timeout 30s");
    on_parsed(verb, line, [&line] { return run_relay(line.common, line.relay); });
}

void add_status(CLI::App& app, Line& line) {
    CLI::App& verb = add_verb(app, "status", "Say how every destination stands");
    verb.add_option("--max-age", line.status.max_age, "Exit 4 if anything pending is older")
        ->type_name("DURATION");
    verb.add_flag("--watch", line.status.watch, "Again every second, also while the store is away");
    verb.footer("Examples:\n  outrider status\n  outrider status --json --max-age 30s");
    on_parsed(verb, line, [&line] { return show_status(line.common, line.status); });
}

void add_filters(CLI::App& verb, DeadArguments& to) {
    verb.add_option("--destination", to.destination, "Only of this destination")->type_name("NAME");
    verb.add_option("--topic", to.topic, "Only of topics like this; * matches anything")
        ->type_name("PATTERN");
    verb.add_option_function<std::string>(
            "--key",
            [&to](const std::string& key) {
                to.key = key;
                to.has_key = true;
            },
            "Only of this key"
    )
        ->type_name("TEXT");
    verb.add_option("--limit", to.limit, "At most this many, oldest first")
        ->type_name("N")
        ->check(not_a_count, "");
}

void add_dead_change(CLI::App& verb, DeadArguments& to) {
    verb.add_option("ID", to.ids, "Which; may be repeated");
    add_filters(verb, to);
    verb.add_flag("--all", to.all, "All of them");
    verb.add_flag("--dry-run", to.dry_run, "Only count");
    verb.add_flag("--yes", to.yes, "Do not ask");
}

void add_dead(CLI::App& app, Line& line) {
    CLI::App& group = add_verb(app, "dead", "Look at dead letters, replay or discard them");
    group.require_subcommand(1);
    group.footer(
        "Examples:\n  outrider dead list --destination orders\n"
        "  outrider dead replay --topic 'orders.*' --dry-run\n  outrider dead replay --all --yes"
    );
    CLI::App& list = add_verb(group, "list", "List them, oldest first, 100 unless told");
    add_filters(list, line.dead);
    on_parsed(list, line, [&line] { return dead_list(line.common, line.dead); });
    CLI::App& show = add_verb(group, "show", "Show one with its payload");
    show.add_option("ID", line.dead.ids, "Which")->required()->expected(1);
    on_parsed(show, line, [&line] { return dead_show(line.common, line.dead); });
    CLI::App& replay = add_verb(group, "replay", "Send them on their way again");
    add_dead_change(replay, line.dead);
    on_parsed(replay, line, [&line] { return dead_replay(line.common, line.dead); });
    CLI::App& discard = add_verb(group, "discard", "Remove them for good");
    add_dead_change(discard, line.dead);
    on_parsed(discard, line, [&line] { return dead_discard(line.common, line.dead); });
}

constexpr const char* kReplayFooter =
    R"(Messages that the destination has passed and the store still keeps (relay.retention) are
copied among those that wait, due at once, with the same id. Order: the replayed messages of
a key go out in their old order; what the destination has not received of that key comes
behind them. Nothing is promised across keys. Messages that wait already, or died, are left
alone (see 'outrider dead'). On SQLite, writers wait while it copies.

Examples:
  outrider replay --destination orders --from 2026-11-15T12:00:00Z --dry-run
  outrider replay --destination orders --from=-2h --topic 'orders.*' --yes
  outrider replay --destination audit --from 1 --key customer-1)";

void add_replay(CLI::App& app, Line& line) {
    CLI::App& verb = add_verb(app, "replay", "Send messages of the history once more");
    ReplayArguments& to = line.replay;
    verb.add_option("--destination", to.destination, "To which destination")
        ->type_name("NAME")
        ->required();
    verb.add_option("--from", to.from, "From when, or from which number of the log")
        ->type_name("TIME|SEQ")
        ->required();
    verb.add_option("--topic", to.topic, "Only of topics like this; * matches anything")
        ->type_name("PATTERN");
    verb.add_option_function<std::string>(
            "--key",
            [&to](const std::string& key) {
                to.key = key;
                to.has_key = true;
            },
            "Only of this key"
    )
        ->type_name("TEXT");
    verb.add_flag("--dry-run", to.dry_run, "Only count");
    verb.add_flag("--yes", to.yes, "Do not ask");
    verb.footer(kReplayFooter);
    on_parsed(verb, line, [&line] { return replay_history(line.common, line.replay); });
}

void add_destination(CLI::App& app, Line& line) {
    CLI::App& group =
        add_verb(app, "destination", "List, test, pause, resume or forget destinations");
    group.require_subcommand(1);
    group.footer("Examples:\n  outrider destination pause orders\n  outrider destination list");
    CLI::App& list = add_verb(group, "list", "List those the store knows");
    on_parsed(list, line, [&line] { return destination_list(line.common); });
    CLI::App& pause = add_verb(group, "pause", "Deliver nothing to it until resumed");
    pause.add_option("NAME", line.destination.name, "Which")->required();
    on_parsed(pause, line, [&line] { return destination_pause(line.common, line.destination); });
    CLI::App& resume = add_verb(group, "resume", "Deliver to it again");
    resume.add_option("NAME", line.destination.name, "Which")->required();
    on_parsed(resume, line, [&line] { return destination_resume(line.common, line.destination); });
    CLI::App& forget = add_verb(group, "forget", "Remove its progress, parked and dead messages");
    forget.add_option("NAME", line.destination.name, "Which")->required();
    forget.add_flag("--yes", line.destination.yes, "Do not ask");
    on_parsed(forget, line, [&line] { return destination_forget(line.common, line.destination); });
    CLI::App& test = add_verb(group, "test", "Connect to its broker and say what that is");
    test.add_option("NAME", line.destination.name, "Which, as configured")->required();
    test.add_flag(
        "--publish", line.destination.publish, "Publish a message there: consumers see it"
    );
    test.add_option("--topic", line.destination.topic, "The topic of that message")
        ->type_name("TOPIC");
    on_parsed(test, line, [&line] { return destination_test(line.common, line.destination); });
}

void add_doctor(CLI::App& app, Line& line) {
    CLI::App& verb = add_verb(app, "doctor", "Look for what is wrong, and say what to do");
    verb.footer(
        "Exits 4 if there is a warning or a fault, 0 if there are only hints.\n\n"
        "Examples:\n  outrider doctor\n  outrider doctor --json"
    );
    on_parsed(verb, line, [&line] { return run_doctor(line.common); });
}

void add_adopt(CLI::App& app, Line& line) {
    CLI::App& verb = add_verb(app, "adopt", "Take over a restored, copied or promoted log");
    verb.add_flag_callback(
        "--follow-promotions",
        [&line] { line.adopt.follow_promotions = true; },
        "Later promotions of this cluster need no adoption"
    );
    verb.add_flag_callback(
        "--no-follow-promotions",
        [&line] { line.adopt.follow_promotions = false; },
        "They need one again"
    );
    verb.add_flag("--yes", line.adopt.yes, "Do not ask");
    verb.footer(
        "Relays refuse a log that comes from another cluster or timeline. Make sure that nobody\n"
        "relays the original any more, then adopt it, as the owner of the schema: nothing is lost\n"
        "and nothing repeated.\n\nExample:\n  outrider adopt --yes"
    );
    on_parsed(verb, line, [&line] { return adopt_log(line.common, line.adopt); });
}

void add_config(CLI::App& app, Line& line) {
    CLI::App& group = add_verb(app, "config", "Check or print the configuration");
    group.require_subcommand(1);
    group.footer("Examples:\n  outrider config check\n  outrider config print --json");
    CLI::App& check = add_verb(group, "check", "Say everything that is wrong with it");
    on_parsed(check, line, [&line] { return config_check(line.common); });
    CLI::App& print_all = add_verb(group, "print", "Print it with defaults, secrets masked");
    print_all.add_flag("--all", line.all_keys, "Every key there is, with its default and meaning");
    on_parsed(print_all, line, [&line] {
        return line.all_keys ? config_reference(line.common) : config_print(line.common);
    });
}

#ifdef OUTRIDER_POSTGRES
void add_table(CLI::App& app, Line& line) {
    CLI::App& import = add_verb(app, "import", "Move an existing outbox table into the log");
    import.add_flag("--no-trigger", line.import.no_trigger, "Do not forward later rows");
    import.add_flag(
        "--order-per-topic",
        line.import.order_per_topic,
        "Accept that a key is in order per topic only"
    );
    import.add_flag("--yes", line.import.yes, "Do not ask");
    import.footer("Example:\n  outrider import --set store.layout=table --yes");
    on_parsed(import, line, [&line] { return import_rows(line.common, line.import); });
    CLI::App& dispatch =
        add_verb(app, "dispatch", "Deliver rows of an existing table by their ids");
    dispatch.add_option("ID", line.dispatch.ids, "Which; may be repeated")->required();
    dispatch.add_option("--destination", line.dispatch.destination, "To whom")->type_name("NAME");
    dispatch.footer(
        "Exits 0 for what is delivered, or left to the relay or gone; 1 refused, 2 no such id can "
        "be,\n"
        "6 no answer, and then the relay carries it; of several ids the highest.\n\nExample:\n  "
        "outrider dispatch 7f1c1b34-9d6e-4b0e-8f3b-0a3f6f1d2c11"
    );
    on_parsed(dispatch, line, [&line] { return dispatch_rows(line.common, line.dispatch); });
}
#endif

void add_others(CLI::App& app, Line& line) {
    CLI::App& completion = add_verb(app, "completion", "Print the completion script of a shell");
    completion.add_option("SHELL", line.shell, "bash, zsh or fish")->required();
    completion.footer("Example:\n  source <(outrider completion bash)");
    on_parsed(completion, line, [&line] {
        print(completion_script(line.shell, describe_command_line()));
        return int{kFine};
    });
    CLI::App& version = add_verb(app, "version", "Say what this build is and has");
    on_parsed(version, line, [&line] { return print_version(line.common); });
}

void build(CLI::App& app, Line& line) {
    app.fallthrough();  // common flags may stand behind any verb
    app.require_subcommand(1);
    app.set_version_flag("--version", "outrider " OUTRIDER_VERSION, "Say which version this is");
    add_common(app, line);
    add_demo(app, line);
    add_migrate(app, line);
    add_enqueue(app, line);
    add_relay(app, line);
    add_status(app, line);
    add_dead(app, line);
    add_replay(app, line);
    add_destination(app, line);
    add_doctor(app, line);
    add_adopt(app, line);
    add_config(app, line);
#ifdef OUTRIDER_POSTGRES
    add_table(app, line);
#endif
    add_others(app, line);
    app.footer(kFooter);  // last: a verb takes over what its parent has when it is added
}

void add_flag_value(Line& line, const char* key, const std::string& value, const char* flag) {
    if (!value.empty()) line.common.flags.push_back({key, value, {flag}});
}

void collect_flags(Line& line) {
    for (const std::string& set : line.sets) {
        const std::size_t equals = set.find('=');
        if (equals == std::string::npos) {
            throw Stop(kUsage, "--set: expected KEY=VALUE, not '" + set + "'");
        }
        const std::string key = set.substr(0, equals);
        line.common.flags.push_back({key, set.substr(equals + 1), {"--set " + key}});
    }
    add_flag_value(line, "store.url", line.store, "--store");
    add_flag_value(line, "log.level", line.log_level, "--log-level");
    add_flag_value(line, "log.format", line.log_format, "--log-format");
}

// The deepest verb that was recognised.
const CLI::App& deepest(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? app : deepest(*chosen.front());
}

// "outrider dead list"
std::string path_to(const CLI::App& verb) {
    const CLI::App* parent = verb.get_parent();
    return (parent == nullptr ? "" : path_to(*parent) + " ") + verb.get_name();
}

CommandWord describe(const CLI::App& app) {
    CommandWord word{app.get_name(), app.get_description(), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            const bool takes_value = option->get_items_expected_max() > 0;
            const bool takes_file = option->get_type_name() == "FILE";
            word.flags.push_back({"--" + name, option->get_description(), takes_value, takes_file});
        }
    }
    for (const CLI::App* child : app.get_subcommands({})) word.words.push_back(describe(*child));
    return word;
}

// What the library says, and the word that was perhaps meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
    const CommandWord word = describe(deepest(app));
    std::vector<std::string> known;
    for (const CommandWord& child : word.words) known.push_back(child.name);
    for (const CommandWord::Flag& flag : word.flags) known.push_back(flag.name);
    for (const CommandWord::Flag& flag : describe(app).flags) known.push_back(flag.name);
    std::string text = error.what();
    for (const std::string& extra : app.remaining(true)) {
        text = "unknown word '" + extra + "'" + did_you_mean(extra, known);
        break;
    }
    return text + ": see '" + path_to(deepest(app)) + " --help'";
}

// These mean something when they are empty: no key, no type.
bool may_be_empty(const CLI::Option& option) {
    return option.check_name("--key") || option.check_name("--type") ||
           option.check_name("--content-type") || option.get_lnames().empty();
}

// Empty text counts as not given, which may be more than was meant: say, dead letters of all topics
// where a script had nothing in its variable.
void refuse_empty_values(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        const std::vector<std::string>& values = option->results();
        const bool is_empty = std::find(values.begin(), values.end(), "") != values.end();
        if (!is_empty || may_be_empty(*option)) continue;
        throw Stop(kUsage, option->get_name() + ": the value is empty: leave it out, or say one");
    }
    for (const CLI::App* verb : app.get_subcommands()) refuse_empty_values(*verb);
}

// As the library wants them: without the program, the last first. An option with an equals sign and
// nothing behind it has an empty value; the library would take the next word.
std::vector<std::string> reversed(std::span<char*> arguments) {
    std::vector<std::string> words;
    for (const std::string_view word :
         arguments.subspan(std::min<std::size_t>(arguments.size(), 1))) {
        const bool is_empty = word.starts_with("--") && word.find('=') + 1 == word.size();
        words.emplace_back(is_empty ? word.substr(0, word.size() - 1) : word);
        if (is_empty) words.emplace_back();
    }
    std::reverse(words.begin(), words.end());
    return words;
}

}  // namespace

Verb parse_command_line(std::span<char*> arguments) {
    const auto line = std::make_shared<Line>();
    const auto app = std::make_shared<CLI::App>(
        "A transactional outbox: messages written in your database's own transactions, carried to "
        "brokers.",
        "outrider"
    );
    build(*app, *line);
    try {
        app->parse(reversed(arguments));
    } catch (const CLI::Success& asked) {
        app->exit(asked, std::cout, std::cerr);
        return [] { return int{kFine}; };
    } catch (const CLI::ParseError& error) {
        throw Stop(kUsage, explain(*app, error));
    }
    refuse_empty_values(*app);
    collect_flags(*line);
    return [line, app] { return line->verb(); };
}

CommandWord describe_command_line() {
    Line line;
    CLI::App app("", "outrider");
    build(app, line);
    return describe(app);
}

}  // namespace outrider::cli
