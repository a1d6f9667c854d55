#include "config/rows.h"

#include <array>

namespace outrider {
namespace {

// A text of [store.table].
template <std::string table::TableOptions::*field>
constexpr GlobalRow table_row(
    std::string_view name,
    std::string_view sentence,
    std::string_view example
) {
    return {
        {.name = name, .sentence = sentence, .kind = Kind::text, .example = example},
        [](Config& config) -> Field { return &(config.table.*field); }};
}

constexpr std::array<GlobalRow, 36> kGlobalRows = {{
    {{.name = "store.url",
      .sentence = "The database that holds the messages.",
      .kind = Kind::url,
      .example = "sqlite:///var/lib/shop/shop.db",
      .secret = true},
     [](Config& config) -> Field { return &config.store; }},
    {{.name = "store.schema",
      .sentence = "PostgreSQL: the schema that holds our tables.",
      .kind = Kind::text,
      .example = "outrider"},
     [](Config& config) -> Field { return &config.postgres.schema; }},
    {{.name = "store.settle",
      .sentence = "PostgreSQL: whether progress is on disk before the next turn begins.",
      .kind = Kind::choice,
      .example = "fast",
      .choices = "fast|durable"},
     [](Config& config) -> Field { return &config.postgres.settle; }},
    {{.name = "store.wake",
      .sentence = "PostgreSQL: how an idle relay learns of new messages.",
      .kind = Kind::choice,
      .example = "doorbell",
      .choices = "doorbell|notify|poll"},
     [](Config& config) -> Field { return &config.postgres.wake; }},
    {{.name = "store.lanes",
      .sentence = "PostgreSQL: lanes of a log that 'migrate up' creates; fixed for its life.",
      .kind = Kind::count,
      .example = "16",
      .choices = "1|2|4|8|16|32|64|128|256"},
     [](Config& config) -> Field { return &config.postgres.lanes; }},
    {{.name = "store.layout",
      .sentence = "PostgreSQL: our own log, or an outbox table that the application has.",
      .kind = Kind::choice,
      .example = "log",
      .choices = "log|table"},
     [](Config& config) -> Field { return &config.layout; }},
    {{.name = "relay.retention",
      .sentence = "How long messages are kept after every destination has passed them.",
      .kind = Kind::duration,
      .example = "7d"},
     [](Config& config) -> Field { return &config.relay.retention; }},
    {{.name = "relay.idle_poll",
      .sentence = "How often an idle relay looks into the store unasked.",
      .kind = Kind::duration,
      .example = "1s",
      .least = "1ms"},
     [](Config& config) -> Field { return &config.relay.idle_poll; }},
    {{.name = "relay.standby_poll",
      .sentence = "How often a relay looks whether lanes that others hold have become free.",
      .kind = Kind::duration,
      .example = "200ms",
      .least = "1ms"},
     [](Config& config) -> Field { return &config.relay.standby_poll; }},
    {{.name = "relay.stop_deadline",
      .sentence = "How long an orderly stop may take before the process ends itself.",
      .kind = Kind::duration,
      .example = "30s",
      .least = "1ms"},
     [](Config& config) -> Field { return &config.stop_deadline; }},
    {{.name = "relay.reconnect_delay_first",
      .sentence = "The wait before a store that failed is opened again; doubled each time.",
      .kind = Kind::duration,
      .example = "100ms",
      .least = "1ms"},
     [](Config& config) -> Field { return &config.relay.reconnect_delay_first; }},
    {{.name = "relay.reconnect_delay_max",
      .sentence = "The longest such wait.",
      .kind = Kind::duration,
      .example = "5s",
      .least = "1ms"},
     [](Config& config) -> Field { return &config.relay.reconnect_delay_max; }},
    {{.name = "log.level",
      .sentence = "The least important lines that are still written.",
      .kind = Kind::choice,
      .example = "info",
      .choices = "debug|info|warning|error"},
     [](Config& config) -> Field { return &config.log.level; }},
    {{.name = "log.format",
      .sentence = "How a line of the log is written.",
      .kind = Kind::choice,
      .example = "logfmt",
      .choices = "logfmt|json"},
     [](Config& config) -> Field { return &config.log.format; }},
    table_row<&table::TableOptions::preset>(
        "store.table.preset",
        "A schema that people have: outbox-messages, outbox-events, efcore, onward, ...",
        "outbox-messages"
    ),
    table_row<&table::TableOptions::name>("store.table.name", "The table.", "shop.outbox_messages"),
    table_row<&table::TableOptions::id>("store.table.id", "The column with the id of a row.", "id"),
    table_row<&table::TableOptions::topic>(
        "store.table.topic",
        "The column that says where a message goes.",
        "type"
    ),
    table_row<&table::TableOptions::key>(
        "store.table.key",
        "The column that messages are ordered by.",
        "aggregate_id"
    ),
    table_row<&table::TableOptions::type>(
        "store.table.type",
        "The column with the sort of message.",
        "type"
    ),
    table_row<&table::TableOptions::payload>(
        "store.table.payload",
        "The column with the content.",
        "payload"
    ),
    table_row<&table::TableOptions::content_type>(
        "store.table.content_type",
        "The column that says how to read the content.",
        "content_type"
    ),
    table_row<&table::TableOptions::headers>(
        "store.table.headers",
        "The column with headers, a JSON object.",
        "headers"
    ),
    table_row<&table::TableOptions::created>(
        "store.table.created",
        "The column by which the oldest comes first.",
        "created_at"
    ),
    table_row<&table::TableOptions::due>(
        "store.table.due",
        "The column with the moment before which a row must wait.",
        "available_at"
    ),
    table_row<&table::TableOptions::done>(
        "store.table.done",
        "How a delivered row is settled: delete, timestamp, status or flag.",
        "timestamp"
    ),
    table_row<&table::TableOptions::done_at>(
        "store.table.done_at",
        "The column with the moment of delivery.",
        "processed_on"
    ),
    table_row<&table::TableOptions::status>(
        "store.table.status",
        "The column with the status.",
        "status"
    ),
    table_row<&table::TableOptions::status_pending>(
        "store.table.status_pending",
        "The status of a row that waits.",
        "PENDING"
    ),
    table_row<&table::TableOptions::status_done>(
        "store.table.status_done",
        "The status of a delivered row.",
        "PUBLISHED"
    ),
    table_row<&table::TableOptions::status_dead>(
        "store.table.status_dead",
        "The status of a row that was given up on.",
        "DEAD"
    ),
    table_row<&table::TableOptions::flag>(
        "store.table.flag",
        "The column that is true once delivered.",
        "Processed"
    ),
    table_row<&table::TableOptions::attempts>(
        "store.table.attempts",
        "The column with the number of refusals.",
        "retry_count"
    ),
    table_row<&table::TableOptions::error>(
        "store.table.error",
        "The column with the reason of the last refusal.",
        "last_error"
    ),
    table_row<&table::TableOptions::settle>(
        "store.table.settle",
        "One statement for all rows of a turn (batch) or for each (row).",
        "batch"
    ),
    {{.name = "store.table.retention",
      .sentence = "Delivered rows older than this are deleted; 0: never.",
      .kind = Kind::duration,
      .example = "30d"},
     [](Config& config) -> Field { return &config.table.retention; }},
}};

constexpr std::array<DestinationRow, 22> kDestinationRows = {{
    {{.name = "name",
      .sentence = "What the store remembers its progress by: choose it once.",
      .kind = Kind::text,
      .example = "orders"},
     [](DestinationConfig& one) -> Field { return &one.rules.name; }},
    {{.name = "broker",
      .sentence = "Where its messages go.",
      .kind = Kind::url,
      .example = "file:///var/log/shop/orders.jsonl",
      .secret = true},
     [](DestinationConfig& one) -> Field { return &one.broker; }},
    {{.name = "target",
      .sentence = "Where a message goes at the broker; {topic}, {key} and {type} are filled in.",
      .kind = Kind::text,
      .example = "shop.{topic}"},
     [](DestinationConfig& one) -> Field { return &one.target; }},
    {{.name = "format",
      .sentence = "How messages are written: with headers of our own, or as CloudEvents.",
      .kind = Kind::choice,
      .example = "plain",
      .choices = "plain|cloudevents-binary|cloudevents-structured"},
     [](DestinationConfig& one) -> Field { return &one.format; }},
    {{.name = "source",
      .sentence = "CloudEvents: who publishes, as a URI reference.",
      .kind = Kind::text,
      .example = "/shop"},
     [](DestinationConfig& one) -> Field { return &one.source; }},
    {{.name = "topics",
      .sentence = "The topics it takes; * matches anything, dots included.",
      .kind = Kind::list,
      .example = "orders.*"},
     [](DestinationConfig& one) -> Field { return &one.rules.topics; }},
    {{.name = "order",
      .sentence = "What is kept in order: messages of one topic and key, nothing, everything.",
      .kind = Kind::choice,
      .example = "key",
      .choices = "key|none|global"},
     [](DestinationConfig& one) -> Field { return &one.rules.order; }},
    {{.name = "start",
      .sentence = "Where it begins when the store meets its name for the first time.",
      .kind = Kind::choice,
      .example = "oldest",
      .choices = "oldest|now"},
     [](DestinationConfig& one) -> Field { return &one.rules.start; }},
    {{.name = "on_failure",
      .sentence = "What the rest of a key does while one of its messages waits for another try.",
      .kind = Kind::choice,
      .example = "block",
      .choices = "block|skip"},
     [](DestinationConfig& one) -> Field { return &one.rules.on_failure; }},
    {{.name = "after_death",
      .sentence = "What the rest of a key does once one of its messages is dead.",
      .kind = Kind::choice,
      .example = "continue",
      .choices = "continue|hold"},
     [](DestinationConfig& one) -> Field { return &one.rules.after_death; }},
    {{.name = "workers",
      .sentence = "How many workers make turns for it, each with its own connections.",
      .kind = Kind::count,
      .example = "1",
      .least = "1",
      .most = "64"},
     [](DestinationConfig& one) -> Field { return &one.rules.workers; }},
    {{.name = "payload_bytes_max",
      .sentence = "Larger payloads are dead letters at once; 0: whatever the broker takes.",
      .kind = Kind::bytes,
      .example = "1MiB"},
     [](DestinationConfig& one) -> Field { return &one.rules.payload_bytes_max; }},
    {{.name = "publish_deadline",
      .sentence = "How long a broker may take to answer for a whole turn.",
      .kind = Kind::duration,
      .example = "30s",
      .least = "1ms"},
     [](DestinationConfig& one) -> Field { return &one.rules.publish_deadline; }},
    {{.name = "outage_delay_first",
      .sentence = "How long a broker that did not answer is left alone; doubled each time.",
      .kind = Kind::duration,
      .example = "250ms",
      .least = "1ms"},
     [](DestinationConfig& one) -> Field { return &one.rules.outage_delay_first; }},
    {{.name = "outage_delay_max",
      .sentence = "The longest such rest.",
      .kind = Kind::duration,
      .example = "30s",
      .least = "1ms"},
     [](DestinationConfig& one) -> Field { return &one.rules.outage_delay_max; }},
    {{.name = "retry.attempts_max",
      .sentence = "A message dies when it was refused this often; 0: never by count.",
      .kind = Kind::count,
      .example = "20",
      .most = "4294967295"},
     [](DestinationConfig& one) -> Field { return &one.rules.retry.attempts_max; }},
    {{.name = "retry.age_max",
      .sentence = "A message dies when its first refusal is this long ago; 0: never by age.",
      .kind = Kind::duration,
      .example = "1d"},
     [](DestinationConfig& one) -> Field { return &one.rules.retry.age_max; }},
    {{.name = "retry.delay_first",
      .sentence = "The wait before the second try; each further wait is twice as long.",
      .kind = Kind::duration,
      .example = "1s",
      .least = "1ms"},
     [](DestinationConfig& one) -> Field { return &one.rules.retry.delay_first; }},
    {{.name = "retry.delay_max",
      .sentence = "The longest wait between two tries.",
      .kind = Kind::duration,
      .example = "1h",
      .least = "1ms"},
     [](DestinationConfig& one) -> Field { return &one.rules.retry.delay_max; }},
    {{.name = "retry.jitter",
      .sentence = "Each wait is stretched or shortened by up to this part of itself.",
      .kind = Kind::number,
      .example = "0.2",
      .least = "0",
      .most = "1"},
     [](DestinationConfig& one) -> Field { return &one.rules.retry.jitter; }},
    {{.name = "batch.messages",
      .sentence = "The most messages of one turn.",
      .kind = Kind::count,
      .example = "10000",
      .least = "1",
      .most = "1000000"},
     [](DestinationConfig& one) -> Field { return &one.rules.batch.messages; }},
    {{.name = "batch.bytes",
      .sentence = "The most bytes of messages in one turn; a single message may be larger.",
      .kind = Kind::bytes,
      .example = "8MiB",
      .least = "1",
      .most = "1GiB"},
     [](DestinationConfig& one) -> Field { return &one.rules.batch.bytes; }},
}};

}  // namespace

std::span<const GlobalRow> global_rows() {
    return kGlobalRows;
}

std::span<const DestinationRow> destination_rows() {
    return kDestinationRows;
}

std::string environment_name(std::string_view name) {
    std::string text(name);
    for (char& c : text) {
        const bool is_small = c >= 'a' && c <= 'z';
        const bool is_kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (is_small) {
            c = static_cast<char>(c - 'a' + 'A');
        } else if (!is_kept) {
            c = '_';
        }
    }
    return text;
}

}  // namespace outrider
