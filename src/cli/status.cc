#include <cstdio>

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "cli/verbs.h"
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

Row row_of(const DestinationStatus& status) {
    return {
        printable(status.name),
        std::to_string(status.pending),
        age_of(status),
        std::to_string(status.parked),
        std::to_string(status.dead),
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

}  // namespace

int show_status(const CommonArguments& common, const StatusArguments& arguments) {
    const std::optional<Duration> age_max = parse_max_age(arguments.max_age);
    const Config config = load_for_store(common);
    const auto admin = open_ready_admin(config);
    // Only a watch waits for signals: a look that hangs must die of them.
    std::optional<StopSignals> signals;
    if (arguments.watch) signals.emplace();
    for (;;) {
        const Backlog backlog = read_backlog(*admin, config);
        print(common.json ? admin::status_document(backlog) : format_backlog(backlog));
        if (is_older(backlog, age_max)) {
            throw Stop(kUnhealthy, "something pending is older than " + arguments.max_age);
        }
        if (!signals || signals->wait(kWatchEvery)) return kFine;
        if (!common.json) print("");
    }
}

}  // namespace outrider::cli
