#include "admin/documents.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/text.h"

namespace outrider::admin {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

// Three digits are plenty, and read better than seventeen.
double rounded(double number) {
    return std::round(number * 1000) / 1000;
}

Json age_json(const std::optional<Duration>& age) {
    if (!age) return nullptr;
    return rounded(std::chrono::duration<double>(*age).count());
}

Json moment_or_null(const std::optional<WallTime>& moment) {
    if (!moment) return nullptr;
    return to_iso(*moment);
}

Json status_json(const DestinationStatus& status) {
    return {
        {"name", status.name},
        {"topics", status.topics},
        {"pending", status.pending},
        {"oldest_pending_seconds", age_json(status.oldest_pending_age)},
        {"parked", status.parked},
        {"parked_reason", text_or_null(status.parked_reason)},
        {"blocked_keys", status.blocked_keys},
        {"dead", status.dead},
        {"count_max", status.count_max == 0 ? Json() : Json(status.count_max)},
        {"delivered", status.delivered},
        {"rate", rounded(status.rate)},
        {"circuit", to_string(status.circuit)},
        {"circuit_reason", text_or_null(status.circuit_reason)},
        {"paused", status.paused},
        {"relay_running", status.relay_running},
    };
}

Json letter_json(const DeadLetter& letter) {
    return {
        {"id", letter.id.to_string()},
        {"destination", letter.destination},
        {"topic", letter.topic},
        {"key", text_or_null(letter.key)},
        {"type", text_or_null(letter.type)},
        {"attempts", letter.attempts},
        {"error", letter.error},
        {"occurred_at", moment_or_null(letter.occurred_at)},
        {"died_at", moment_or_null(letter.died_at)},
        {"holds_key", letter.holds_key},
    };
}

void add_content(Json& json, const DeadLetter& letter) {
    json["content_type"] = text_or_null(letter.content_type);
    json["headers"] = Json::object();
    for (const Header& header : letter.headers) json["headers"][header.name] = header.value;
    if (is_utf8(letter.payload)) {
        json["payload"] = letter.payload;
        return;
    }
    std::string base64;
    append_base64(base64, letter.payload);
    json["payload_base64"] = base64;
}

}  // namespace

std::string status_document(const Backlog& backlog) {
    Json json = {{"destinations", Json::array()}, {"unrouted", Json::array()}};
    for (const DestinationStatus& status : backlog.destinations) {
        json["destinations"].push_back(status_json(status));
    }
    for (const UnroutedTopic& topic : backlog.unrouted) {
        json["unrouted"].push_back({{"topic", topic.topic}, {"messages", topic.messages}});
    }
    return dump(json);
}

std::string dead_list_document(const std::vector<DeadLetter>& letters) {
    Json json = Json::array();
    for (const DeadLetter& letter : letters) json.push_back(letter_json(letter));
    return dump(json);
}

std::string dead_show_document(const std::vector<DeadLetter>& letters) {
    Json json = Json::array();
    for (const DeadLetter& letter : letters) {
        Json one = letter_json(letter);
        add_content(one, letter);
        json.push_back(std::move(one));
    }
    return dump(json);
}

std::string dead_change_document(const DeadChange& change) {
    Json json = {{"matched", change.matched}};
    json[std::string(change.verb)] = change.changed;
    json["dry_run"] = change.dry_run;
    return dump(json);
}

std::string destinations_document(
    const Backlog& backlog,
    const std::vector<std::string>& configured
) {
    Json json = Json::array();
    for (const DestinationStatus& status : backlog.destinations) {
        const bool is_configured =
            std::find(configured.begin(), configured.end(), status.name) != configured.end();
        json.push_back(
            {{"name", status.name},
             {"topics", status.topics},
             {"configured", is_configured},
             {"paused", status.paused},
             {"relay_running", status.relay_running},
             {"circuit", to_string(status.circuit)}}
        );
    }
    return dump(json);
}

std::string destination_change_document(std::string_view name, std::string_view what, bool value) {
    Json json = {{"name", name}};
    json[std::string(what)] = value;
    return dump(json);
}

std::string broker_document(const BrokerFinding& finding) {
    Json json = {
        {"destination", finding.destination},
        {"broker", finding.broker},
        {"connected", finding.connected},
        {"server", text_or_null(finding.server)},
        {"durability", text_or_null(finding.durability)},
        {"risk", text_or_null(finding.risk)},
        {"error", text_or_null(finding.error)},
        {"probe", nullptr}};
    if (!finding.probe_id.empty()) {
        json["probe"] = {
            {"id", finding.probe_id},
            {"verdict", finding.probe_verdict},
            {"milliseconds", finding.probe_millis}};
    }
    return dump(json);
}

std::string schema_document(const SchemaVersion& version) {
    return dump(Json{
        {"installed", version.installed},
        {"newest", version.newest},
        {"up_to_date", version.installed == version.newest},
        {"remarks", version.remarks}});
}

std::string adoption_document(const Adoption& adoption) {
    return dump(Json{
        {"was_foreign", adoption.was_foreign},
        {"carried_over", adoption.carried_over},
        {"follows_promotions", adoption.follows_promotions}});
}

std::string enqueued_document(const MessageId& id) {
    return dump(Json{{"id", id.to_string()}});
}

std::string dispatched_document(
    std::string_view id,
    std::string_view outcome,
    std::string_view error
) {
    Json json{{"id", id}, {"outcome", outcome}, {"error", nullptr}};
    if (!error.empty()) json["error"] = error;
    return dump(json);
}

std::string error_document(std::string_view error) {
    return dump(Json{{"error", error}});
}

std::string check_document(const std::vector<std::string>& problems) {
    return dump(Json{{"ok", problems.empty()}, {"problems", problems}});
}

std::string version_document(const BuildFacts& facts) {
    return dump(Json{
        {"version", facts.version},
        {"compiler", facts.compiler},
        {"stores", facts.stores},
        {"brokers", facts.brokers}});
}

std::string import_document(
    std::uint64_t moved,
    std::uint64_t dead,
    std::uint64_t other,
    bool forwards
) {
    return dump(Json{
        {"moved", moved}, {"left_dead", dead}, {"left_other", other}, {"forwards", forwards}});
}

}  // namespace outrider::admin
