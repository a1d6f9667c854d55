#include <limits>

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/destination_names.h"
#include "cli/times.h"
#include "cli/verbs.h"
#include "config/values.h"
#include "core/clock.h"

namespace outrider::cli {
namespace {

// A number of the log, or a moment.
void read_start(const std::string& text, ReplayFilter& filter) {
    constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
    if (const auto seq = parse_count(text)) {
        if (*seq > kLast) throw Stop(kUsage, "--from: no log has a number " + text);
        filter.from_seq = static_cast<std::int64_t>(*seq);
        return;
    }
    filter.from_time = parse_moment(text, SystemClock().wall());
    if (filter.from_time) return;
    throw Stop(
        kUsage,
        "--from: expected a moment such as 2026-11-15T12:00:00Z, a time ago such as -2h "
        "(--from=-2h), or a number of the log, not '" +
            text + "'"
    );
}

ReplayFilter filter_of(const ReplayArguments& arguments) {
    ReplayFilter filter;
    filter.destination = arguments.destination;
    read_start(arguments.from, filter);
    if (!arguments.topic.empty()) filter.topic = arguments.topic;
    if (arguments.has_key) filter.key = arguments.key;
    return filter;
}

std::uint64_t replay(StoreAdmin& admin, const ReplayFilter& filter, bool dry_run) {
    const std::optional<std::uint64_t> messages = value_of(admin.replay(filter, dry_run));
    if (!messages) refuse_destination(admin, filter.destination);
    return *messages;
}

}  // namespace

int replay_history(const CommonArguments& common, const ReplayArguments& arguments) {
    const ReplayFilter filter = filter_of(arguments);
    const auto admin = open_ready_admin(load_for_store(common));
    admin::DeadChange done{.verb = "replayed", .matched = replay(*admin, filter, true)};
    done.dry_run = arguments.dry_run;
    if (done.matched == 0) throw Stop(kNothingMatched, "no message of the history matches");
    const std::string what =
        std::to_string(done.matched) + " messages to '" + arguments.destination + "'";
    if (!done.dry_run) {
        if (!arguments.yes && !confirm("Send " + what + " once more?")) {
            throw Stop(kFailed, "nothing was changed");
        }
        done.changed = replay(*admin, filter, false);
    }
    if (common.json) {
        print(admin::dead_change_document(done));
    } else if (done.dry_run) {
        print("would send " + what + " once more");
    } else {
        print(
            "sending " + std::to_string(done.changed) + " messages to '" + arguments.destination +
            "' once more"
        );
    }
    return kFine;
}

}  // namespace outrider::cli
