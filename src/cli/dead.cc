#include <limits>

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/destination_names.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "core/clock.h"
#include "core/text.h"

namespace outrider::cli {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kScreen = 100;

MessageId id_of(const std::string& text) {
    if (const std::optional<MessageId> id = MessageId::parse(text)) return *id;
    throw Stop(kUsage, "'" + text + "' is no message id: take one from 'outrider dead list'");
}

DeadFilter filter_of(const DeadArguments& arguments, std::size_t limit) {
    DeadFilter filter;
    if (!arguments.destination.empty()) filter.destination = arguments.destination;
    if (!arguments.topic.empty()) filter.topic = arguments.topic;
    if (arguments.has_key) filter.key = arguments.key;
    filter.limit = arguments.limit > 0 ? arguments.limit : limit;
    return filter;
}

// The store; Stop if a destination is named that nobody knows.
std::unique_ptr<StoreAdmin> open_for(
    const CommonArguments& common,
    const DeadArguments& arguments
) {
    const Config config = load_for_store(common);
    std::unique_ptr<StoreAdmin> admin = open_ready_admin(config);
    if (!arguments.destination.empty()) require_destination(*admin, config, arguments.destination);
    return admin;
}

bool has_filter(const DeadArguments& arguments) {
    return arguments.all || !arguments.destination.empty() || !arguments.topic.empty() ||
           arguments.has_key;
}

// One filter per id, or one for all that fits.
std::vector<DeadFilter> filters_of(const DeadArguments& arguments) {
    const DeadFilter filter = filter_of(arguments, kAll);
    if (arguments.ids.empty()) return {filter};
    std::vector<DeadFilter> filters;
    for (const std::string& id : arguments.ids) {
        filters.push_back(filter);
        filters.back().id = id_of(id);
    }
    return filters;
}

// A table that is not ours may not say.
std::string moment_of(const std::optional<WallTime>& moment) {
    return moment ? to_iso(*moment) : "-";
}

Row row_of(const DeadLetter& letter) {
    return {
        letter.id.to_string(),
        printable(letter.destination),
        printable(letter.topic),
        letter.key.empty() ? "-" : printable(letter.key),
        std::to_string(letter.attempts),
        moment_of(letter.died_at),
        printable(letter.error)};
}

std::string describe(const DeadLetter& letter) {
    std::vector<Row> rows = {
        {"destination", printable(letter.destination)},
        {"topic", printable(letter.topic)},
        {"key", printable(letter.key)},
        {"type", printable(letter.type)},
        {"content type", printable(letter.content_type)},
        {"occurred at", moment_of(letter.occurred_at)},
        {"died at", moment_of(letter.died_at)},
        {"attempts", std::to_string(letter.attempts)},
        {"error", printable(letter.error)},
        {"holds its key", letter.holds_key ? "yes" : "no"},
        {"payload bytes", std::to_string(letter.payload.size())}};
    for (const Header& header : letter.headers) {
        rows.push_back({"header " + printable(header.name), printable(header.value)});
    }
    std::string text = format_table({"id", letter.id.to_string()}, rows) + "\n";
    if (is_utf8(letter.payload)) return text + "\n" + printable(letter.payload) + "\n";
    return text + "\n(the payload is not text: use --json)\n";
}

// What replay and discard share: count, ask, change.
struct Change {
    std::string_view verb;  // "replay"
    std::string_view past;  // "replayed"
    Result<std::uint64_t> (StoreAdmin::*change)(const DeadFilter&);
};

std::uint64_t count(StoreAdmin& admin, const std::vector<DeadFilter>& filters) {
    std::uint64_t matched = 0;
    for (const DeadFilter& filter : filters) matched += value_of(admin.dead_letters(filter)).size();
    return matched;
}

// Whoever names a dead letter that is not there has made a mistake, and should look first.
void require_all(StoreAdmin& admin, const std::vector<DeadFilter>& filters) {
    for (const DeadFilter& filter : filters) {
        if (!filter.id || !value_of(admin.dead_letters(filter)).empty()) continue;
        throw Stop(
            kNothingMatched,
            "no dead letter that matches has the id " + filter.id->to_string() +
                ": nothing was changed"
        );
    }
}

void show_change(const CommonArguments& common, const admin::DeadChange& change) {
    if (common.json) return print(admin::dead_change_document(change));
    if (change.dry_run) {
        return print(
            "would have " + std::string(change.verb) + " " + std::to_string(change.matched) +
            " dead letters"
        );
    }
    print(std::string(change.verb) + " " + std::to_string(change.changed) + " dead letters");
}

bool is_allowed(const DeadArguments& arguments, const Change& change, std::uint64_t matched) {
    if (arguments.yes || !arguments.ids.empty()) return true;
    return confirm(std::string(change.verb) + " " + std::to_string(matched) + " dead letters?");
}

int change_dead(
    const CommonArguments& common,
    const DeadArguments& arguments,
    const Change& change
) {
    const std::string verb(change.verb);
    if (arguments.ids.empty() && !has_filter(arguments)) {
        throw Stop(
            kUsage, "dead " + verb + ": say which: ids, --destination, --topic, --key or --all"
        );
    }
    const std::vector<DeadFilter> filters = filters_of(arguments);
    const auto admin = open_for(common, arguments);
    admin::DeadChange done{.verb = change.past, .matched = count(*admin, filters)};
    done.dry_run = arguments.dry_run;
    if (done.matched == 0) throw Stop(kNothingMatched, "no dead letter matches");
    require_all(*admin, filters);
    if (!done.dry_run) {
        if (!is_allowed(arguments, change, done.matched))
            throw Stop(kFailed, "nothing was changed");
        for (const DeadFilter& filter : filters) {
            done.changed += value_of((*admin.*change.change)(filter));
        }
    }
    show_change(common, done);
    return kFine;
}

}  // namespace

int dead_list(const CommonArguments& common, const DeadArguments& arguments) {
    const auto admin = open_for(common, arguments);
    const DeadFilter filter = filter_of(arguments, common.json ? kAll : kScreen);
    const std::vector<DeadLetter> letters = value_of(admin->dead_letters(filter));
    if (common.json) {
        print(admin::dead_list_document(letters));
        return kFine;
    }
    std::vector<Row> rows;
    rows.reserve(letters.size());
    for (const DeadLetter& letter : letters) rows.push_back(row_of(letter));
    print(format_table({"ID", "DESTINATION", "TOPIC", "KEY", "ATTEMPTS", "DIED AT", "ERROR"}, rows)
    );
    if (letters.size() == filter.limit) {
        print("these are the oldest " + std::to_string(filter.limit) + ": --limit N for more");
    }
    return kFine;
}

int dead_show(const CommonArguments& common, const DeadArguments& arguments) {
    const MessageId id = id_of(arguments.ids.at(0));
    const auto admin = open_ready_admin(load_for_store(common));
    const std::vector<DeadLetter> letters = value_of(admin->dead_letter(id));
    if (letters.empty()) throw Stop(kNothingMatched, "no dead letter has the id " + id.to_string());
    if (common.json) {
        print(admin::dead_show_document(letters));
        return kFine;
    }
    for (const DeadLetter& letter : letters) print(describe(letter));
    return kFine;
}

int dead_replay(const CommonArguments& common, const DeadArguments& arguments) {
    return change_dead(common, arguments, {"replay", "replayed", &StoreAdmin::replay_dead});
}

int dead_discard(const CommonArguments& common, const DeadArguments& arguments) {
    return change_dead(common, arguments, {"discard", "discarded", &StoreAdmin::discard_dead});
}

}  // namespace outrider::cli
