#include "brokers/nats/facts.h"

#include "brokers/nats/json.h"

namespace outrider::nats {
namespace {

// A member of an object that is an object.
std::optional<JsonObject> part_of(const std::optional<JsonObject>& object, std::string_view name) {
    return object ? JsonObject::parse(object->raw(name)) : std::nullopt;
}

}  // namespace

std::string server_of(std::string_view greeting) {
    const std::size_t end = greeting.rfind('}');
    const auto object = JsonObject::parse(greeting.substr(0, end + 1));
    if (!object) return "NATS";
    std::string text = "NATS " + object->text("version");
    if (object->raw("jetstream") != "true") text += " without JetStream";
    return text;
}

std::string durability_of(std::string_view info, const std::string& stream) {
    const auto answer = JsonObject::parse(info);
    const auto config = part_of(answer, "config");
    if (!config) {
        const auto error = part_of(answer, "error");
        return "none: stream " + stream + ": " + (error ? error->text("description") : "no answer");
    }
    const std::uint64_t replicas = config->number("num_replicas");
    const bool is_file = config->text("storage") == "file";
    std::string text = "stored by stream " + stream;
    text += is_file ? " in a file, which is synced later (sync_interval)" : " in memory only";
    if (replicas > 1) return text + ", by a majority of " + std::to_string(replicas) + " servers";
    return text + ", by one server";
}

std::string risk_of(std::string_view info, const std::string& stream) {
    const auto answer = JsonObject::parse(info);
    const auto config = part_of(answer, "config");
    if (!config || config->text("retention") != "interest") return {};
    const auto state = part_of(answer, "state");
    const bool is_idle = state && state->number("consumer_count") == 0;
    return "stream " + stream +
           " acknowledges messages that no consumer wants, and keeps none of them (retention "
           "interest): make its consumers before the first message, or use retention limits" +
           (is_idle ? "; it has no consumer now" : "");
}

}  // namespace outrider::nats
