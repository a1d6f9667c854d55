#include "table/outbox.h"

#include <cstdlib>
#include <map>

namespace outrider {
namespace {

constexpr const char* kUuid = "00000000-0000-7000-8000-{n12}";

Schema outbox_messages() {
    return {
        .preset = "outbox-messages",
        .table = "outbox_messages",
        .definition =
            "create table outbox_messages (id uuid primary key, occurred_on timestamptz "
            "not null, type text not null, payload jsonb not null, processed_on "
            "timestamptz null, retry_count int not null default 0)",
        .insert =
            "insert into outbox_messages (id, occurred_on, type, payload) values ('{id}', "
            "{created}, '{topic}', '{payload}')",
        .id = kUuid,
        .pending = "processed_on is null",
        .attempts = "retry_count",
        .has_key = false,
        .can_bury = true};
}

Schema outbox_events() {
    return {
        .preset = "outbox-events",
        .table = "outbox_events",
        .definition =
            "create table outbox_events (id bigserial primary key, event_type "
            "varchar(255) not null, aggregate_id varchar(255) not null, payload text not "
            "null, status varchar(20) not null default 'PENDING', created_at timestamp "
            "not null default now(), check (status in ('PENDING', 'PUBLISHED')))",
        .insert =
            "insert into outbox_events (id, event_type, aggregate_id, payload, created_at) "
            "values ({id}, '{topic}', '{key}', '{payload}', {created})",
        .id = "{n}",
        .pending = "status = 'PENDING'"};
}

Schema efcore() {
    return {
        .preset = "efcore",
        .table = "\"OutboxMessages\"",
        .definition =
            "create table \"OutboxMessages\" (\"Id\" uuid not null constraint "
            "\"PK_OutboxMessages\" primary key, \"OrderId\" text, \"EventType\" "
            "text not null, \"Payload\" text not null, \"CreatedAt\" timestamptz not "
            "null, \"ProcessedAt\" timestamptz, \"Processed\" boolean not null default "
            "false, \"RetryCount\" integer not null default 0, \"Error\" text)",
        .insert =
            "insert into \"OutboxMessages\" (\"Id\", \"OrderId\", \"EventType\", "
            "\"Payload\", \"CreatedAt\") values ('{id}', '{key}', '{topic}', '{payload}', "
            "{created})",
        .id = kUuid,
        .pending = "not \"Processed\"",
        .attempts = "\"RetryCount\"",
        .error = "\"Error\"",
        .can_bury = true};
}

Schema onward() {
    return {
        .preset = "onward",
        .table = "\"Onwrd\".\"Events\"",
        .definition =
            "create schema \"Onwrd\"; create table \"Onwrd\".\"Events\" (\"Id\" uuid not "
            "null constraint pk_events primary key, \"CreatedOn\" timestamp(6) not null, "
            "\"DispatchedOn\" timestamp(6) null, \"TypeId\" text not null, \"Contents\" "
            "text not null, \"AssemblyName\" text not null); create index on "
            "\"Onwrd\".\"Events\" (\"DispatchedOn\")",
        .insert =
            "insert into \"Onwrd\".\"Events\" (\"Id\", \"CreatedOn\", \"TypeId\", "
            "\"Contents\", \"AssemblyName\") values ('{id}', {created}, '{topic}', "
            "'{payload}', 'Shop')",
        .id = kUuid,
        .pending = "\"DispatchedOn\" is null",
        .has_key = false};
}

Schema debezium() {
    return {
        .preset = "debezium",
        .table = "outboxevent",
        .definition =
            "create table outboxevent (id uuid not null primary key, aggregatetype "
            "varchar(255) not null, aggregateid varchar(255) not null, type varchar(255) "
            "not null, payload jsonb)",
        .insert =
            "insert into outboxevent values ('{id}', 'order', '{key}', '{topic}', "
            "'{payload}')",
        .id = kUuid,
        .pending = "true"};
}

Schema open_outbox() {
    return {
        .preset = "open-outbox",
        .table = "openoutbox_events",
        .definition =
            "create table openoutbox_events (event_id uuid primary key, event_type text not null, "
            "partition_key text, payload bytea not null, headers jsonb not null default '{}', "
            "status text not null default 'PENDING', attempts int not null default 0, last_error "
            "text, available_at timestamptz not null default now(), locked_by text, locked_at "
            "timestamptz, delivered_at timestamptz, created_at timestamptz not null default now(), "
            "updated_at timestamptz not null default now(), constraint check_valid_status check "
            "(status in ('PENDING', 'DELIVERING', 'DELIVERED', 'DEAD')))",
        .insert =
            "insert into openoutbox_events (event_id, event_type, partition_key, payload, "
            "headers, created_at) values ('{id}', '{topic}', '{key}', '{payload}', "
            "'{\"trace\": \"t1\"}', {created})",
        .id = kUuid,
        .pending = "status = 'PENDING'",
        .attempts = "attempts",
        .error = "last_error",
        .can_bury = true};
}

// One for all tests of a server, since making one takes longer than most tests: they come one after
// the other, and each makes its table anew.
std::string database_on(PostgresServer& server) {
    static std::map<PostgresServer*, std::string> databases;
    std::string& conninfo = databases[&server];
    if (conninfo.empty()) conninfo = server.create_database();
    return conninfo;
}

std::string padded(int n) {
    std::string digits = std::to_string(n);
    return std::string(12 - digits.size(), '0') + digits;
}

std::string id_of(const Schema& schema, int n) {
    return fill(fill(schema.id, "n12", padded(n)), "n", std::to_string(n));
}

}  // namespace

const std::vector<Schema>& schemas() {
    static const std::vector<Schema> kSchemas = {
        outbox_messages(), outbox_events(), efcore(), onward(), debezium(), open_outbox()};
    return kSchemas;
}

std::string fill(std::string text, const std::string& name, const std::string& value) {
    const std::string pattern = "{" + name + "}";
    for (std::size_t at = text.find(pattern); at != std::string::npos;
         at = text.find(pattern, at + value.size())) {
        text.replace(at, pattern.size(), value);
    }
    return text;
}

Outbox::Outbox(const Schema& schema_, PostgresServer& server)
    : Outbox(schema_, database_on(server)) {
}

Outbox::Outbox(const Schema& schema_, const std::string& conninfo_)
    : schema(schema_),
      conninfo(conninfo_),
      session(conninfo) {
    session.run("set client_min_messages = warning");
    if (schema.preset != "onward") session.run("drop table if exists " + schema.table + " cascade");
    session.run("drop schema if exists \"Onwrd\" cascade");
    session.run(schema.definition);
    options.preset = schema.preset;
}

std::string Outbox::insert_of(int n, const std::string& key, const std::string& topic) const {
    const std::string number = std::to_string(n);
    std::string sql = fill(schema.insert, "id", id_of(schema, n));
    sql = fill(sql, "created", "timestamp '2026-01-01' + " + number + " * interval '1 ms'");
    sql = fill(sql, "key", key.empty() ? "key-" + number : key);
    sql = fill(sql, "topic", topic);
    return fill(sql, "payload", "{\"n\": " + number + "}");
}

void Outbox::write(int n, const std::string& key, const std::string& topic) {
    session.run(insert_of(n, key, topic));
}

void Outbox::write_in(const PostgresSession& other, int n, const std::string& key) const {
    other.run(insert_of(n, key, "orders.placed"));
}

std::string Outbox::id(int n) const {
    return id_of(schema, n);
}

std::string Outbox::where(int n) const {
    const std::string column = schema.preset == "efcore" || schema.preset == "onward"
                                   ? "\"Id\""
                                   : (schema.preset == "open-outbox" ? "event_id" : "id");
    return column + " = '" + id(n) + "'";
}

int Outbox::pending() const {
    const std::string sql = "select count(*) from " + schema.table + " where " + schema.pending;
    return std::stoi(session.value(sql));
}

std::string Outbox::value(const std::string& what, int n) const {
    return session.value("select " + what + " from " + schema.table + " where " + where(n));
}

std::shared_ptr<table::TableDriver> Outbox::driver(std::vector<Destination> destinations) const {
    const Result<table::Layout> layout = table::layout_of(options);
    if (!layout) throw std::runtime_error(layout.error().text);
    return std::make_shared<table::TableDriver>(
        table::TablePlace{conninfo, *layout}, std::move(destinations)
    );
}

std::unique_ptr<Store> Outbox::open(const Destination& destination) const {
    auto opened = driver()->open(destination);
    if (!opened) throw std::runtime_error(opened.error().text);
    return std::move(opened).value();
}

std::unique_ptr<StoreAdmin> Outbox::admin(const Destination& destination) const {
    auto opened = driver({destination})->open_admin(StoreDriver::IfMissing::fail);
    if (!opened) throw std::runtime_error(opened.error().text);
    return std::move(opened).value();
}

Destination eager(std::size_t workers) {
    Destination destination;
    destination.name = "all";
    destination.workers = workers;
    destination.retry.delay_first = std::chrono::milliseconds(1);
    destination.retry.delay_max = std::chrono::milliseconds(1);
    return destination;
}

int number_in(std::string_view payload) {
    const std::size_t digits = payload.find_first_of("0123456789");
    if (digits == std::string_view::npos) throw std::runtime_error("no number in the payload");
    return std::atoi(std::string(payload.substr(digits)).c_str());
}

std::vector<int> numbers(const Batch& batch) {
    std::vector<int> all;
    for (const Envelope& envelope : batch.envelopes) all.push_back(number_in(envelope.payload));
    return all;
}

Batch claim(Store& store, std::size_t messages) {
    Result<Batch> batch = store.claim({messages, 1U << 20U});
    if (!batch) throw std::runtime_error(batch.error().text);
    return std::move(batch).value();
}

void finish(Store& store, Batch batch) {
    if (!batch.hold) return;
    Settlement done;
    done.fate = Fate::done;
    const std::vector<Settlement> settlements(batch.envelopes.size(), done);
    const Result<void> settled = store.settle(std::move(batch), settlements);
    if (!settled) throw std::runtime_error(settled.error().text);
}

}  // namespace outrider
