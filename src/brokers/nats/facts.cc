#include "brokers/nats/facts.h"

#include "brokers/nats/json.h"

namespace outrider::nats {

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
    const auto config = answer ? JsonObject::parse(answer->raw("config")) : std::nullopt;
    if (!config) {
        const auto error = answer ? JsonObject::parse(answer->raw("error")) : std::nullopt;
        return "none: stream " + stream + ": " + (error ? error->text("description") : "no answer");
    }
    const std::uint64_t replicas = config->number("num_replicas");
    const bool is_file = config->text("storage") == "file";
    std::string text = "stored by stream " + stream;
    text += is_file ? " in a file, which is synced later (sync_interval)" : " in memory only";
    if (replicas > 1) return text + ", by a majority of " + std::to_string(replicas) + " servers";
    return text + ", by one server";
}

}  // namespace outrider::nats
