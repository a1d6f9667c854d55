#include "stores/table/presets.h"

#include <array>

namespace outrider::table {
namespace {

TableOptions outbox_messages() {
    return {
        .name = "outbox_messages",
        .id = "id",
        .topic = "type",
        .type = "type",
        .payload = "payload",
        .created = "occurred_on",
        .done = "timestamp",
        .done_at = "processed_on",
        .attempts = "retry_count",
    };
}

TableOptions outbox_events() {
    return {
        .name = "outbox_events",
        .id = "id",
        .topic = "event_type",
        .key = "aggregate_id",
        .type = "event_type",
        .payload = "payload",
        .created = "created_at",
        .done = "status",
        .status = "status",
        .status_pending = "PENDING",
        .status_done = "PUBLISHED",
    };
}

TableOptions efcore() {
    return {
        .name = "OutboxMessages",
        .id = "Id",
        .topic = "EventType",
        .key = "OrderId",
        .type = "EventType",
        .payload = "Payload",
        .created = "CreatedAt",
        .done = "flag",
        .done_at = "ProcessedAt",
        .flag = "Processed",
        .attempts = "RetryCount",
        .error = "Error",
    };
}

TableOptions onward() {
    return {
        .name = "Onwrd.Events",
        .id = "Id",
        .topic = "TypeId",
        .type = "TypeId",
        .payload = "Contents",
        .created = "CreatedOn",
        .done = "timestamp",
        .done_at = "DispatchedOn",
    };
}

TableOptions debezium() {
    return {
        .name = "outboxevent",
        .id = "id",
        .topic = "type",
        .key = "aggregateid",
        .type = "type",
        .payload = "payload",
        .done = "delete",
    };
}

TableOptions open_outbox() {
    return {
        .name = "openoutbox_events",
        .id = "event_id",
        .topic = "event_type",
        .key = "partition_key",
        .type = "event_type",
        .payload = "payload",
        .headers = "headers",
        .created = "created_at",
        .due = "available_at",
        .done = "status",
        .done_at = "delivered_at",
        .status = "status",
        .status_pending = "PENDING",
        .status_done = "DELIVERED",
        .status_dead = "DEAD",
        .attempts = "attempts",
        .error = "last_error",
    };
}

struct Preset {
    std::string_view name;
    TableOptions (*make)();
};

constexpr std::array kPresets = {
    Preset{"outbox-messages", outbox_messages},
    Preset{"outbox-events", outbox_events},
    Preset{"efcore", efcore},
    Preset{"onward", onward},
    Preset{"debezium", debezium},
    Preset{"open-outbox", open_outbox},
};

}  // namespace

std::optional<TableOptions> preset(std::string_view name) {
    for (const Preset& one : kPresets) {
        if (one.name == name) return one.make();
    }
    return std::nullopt;
}

std::vector<std::string> preset_names() {
    std::vector<std::string> names;
    for (const Preset& one : kPresets) names.emplace_back(one.name);
    return names;
}

}  // namespace outrider::table
