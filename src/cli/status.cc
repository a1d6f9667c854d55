#include <cstdio>

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "config/secret_url.h"
#include "config/values.h"

namespace outrider::cli {
namespace {

constexpr Duration kWatchEvery = std::chrono::seconds(1);

// One digit behind the point.
std::string tenths(double number) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f", number);
    return text;
}

std::string age_of(const DestinationStatus& status) {
    if (!status.oldest_pending_age) return "-";
    return tenths(std::chrono::duration<double>(*status.oldest_pending_age).count()) + "s";
}

std::string relay_of(const DestinationStatus& status) {
    if (status.paused) return "paused";
    return status.relay_running ? "running" : "none";
}

// 100000+ where counting ended.
std::string count_of(const DestinationStatus& status, std::uint64_t count) {
    const bool is_cut = status.count_max != 0 && count >= status.count_max;
    return std::to_string(count) + (is_cut ? "+" : "");
}

Row row_of(const DestinationStatus& status) {
    return {
        printable(status.name),
        count_of(status, status.pending),
        age_of(status),
        count_of(status, status.parked),
        count_of(status, status.dead),
        tenths(status.rate),
        std::string(to_string(status.circuit)),
        relay_of(status)};
}

std::string format_backlog(const Backlog& backlog) {
    std::vector<Row> rows;
    for (const DestinationStatus& status : backlog.destinations) rows.push_back(row_of(status));
    std::string text = format_table(
        {"DESTINATION", "PENDING", "OLDEST", "PARKED", "DEAD", "RATE/S", "CIRCUIT", "RELAY"}, rows
    );
    for (const DestinationStatus& status : backlog.destinations) {
        if (status.circuit != CircuitState::closed) {
            text += "\n" + printable(status.name) + ": " + printable(status.circuit_reason);
        }
        if (!status.parked_reason.empty()) {
            text += "\n" + printable(status.name) +
                    ": refused, and will be tried again: " + printable(status.parked_reason);
        }
    }
    if (backlog.unrouted.empty()) return text;
    rows.clear();
    for (const UnroutedTopic& topic : backlog.unrouted) {
        rows.push_back({printable(topic.topic), std::to_string(topic.messages)});
    }
    return text + "\n\nNo destination takes:\n" + format_table({"TOPIC", "MESSAGES"}, rows);
}

std::optional<Duration> parse_max_age(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const std::optional<Duration> age = parse_duration(text);
    if (age) return age;
    throw Stop(kUsage, "--max-age: expected a duration such as 30s, not '" + text + "'");
}

bool is_older(const Backlog& backlog, const std::optional<Duration>& age_max) {
    if (!age_max) return false;
    for (const DestinationStatus& status : backlog.destinations) {
        if (status.oldest_pending_age && *status.oldest_pending_age > *age_max) return true;
    }
    return false;
}

Backlog read_backlog(StoreAdmin& admin, const Config& config) {
    std::vector<Destination> configured;
    for (const DestinationConfig& one : config.destinations) configured.push_back(one.rules);
    return value_of(admin.backlog(configured));
}

// One look after the other, over one connection for as long as it lasts.
class Look {
public:
    Look(const CommonArguments& common, const StatusArguments& arguments)
        : as_json_(common.json),
          max_age_(arguments.max_age),
          age_max_(parse_max_age(arguments.max_age)),
          config_(load_for_store(common)) {}

    // Throws Stop.
    void show() {
        if (!admin_) admin_ = open_ready_admin(config_);
        const Backlog backlog = read_backlog(*admin_, config_);
        print(as_json_ ? admin::status_document(backlog) : format_backlog(backlog));
        if (is_older(backlog, age_max_)) {
            throw Stop(kUnhealthy, "something pending is older than " + max_age_);
        }
    }

    // The same for one who has seen it before: a store that is away has its error in place of the
    // table, and is opened again next time.
    void show_again() {
        try {
            show();
        } catch (const Stop& stop) {
            if (stop.code() != kCannotConnect) throw;
            admin_.reset();
            const std::string why = mask_secrets(stop.what());
            print(as_json_ ? admin::error_document(why) : printable(why));
        }
    }

private:
    const bool as_json_;
    const std::string max_age_;
    const std::optional<Duration> age_max_;
    const Config config_;
    std::unique_ptr<StoreAdmin> admin_;
};

}  // namespace

int show_status(const CommonArguments& common, const StatusArguments& arguments) {
    Look look(common, arguments);
    // Only a watch waits for signals: a look that hangs must die of them.
    std::optional<StopSignals> signals;
    if (arguments.watch) signals.emplace();
    look.show();
    while (signals && !signals->wait(kWatchEvery)) {
        if (!common.json) print("");
        look.show_again();
    }
    return kFine;
}

}  // namespace outrider::cli
