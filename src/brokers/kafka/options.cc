#include "brokers/kafka/options.h"

#include <array>

#include "brokers/kafka/writer.h"
#include "brokers/wire/parameters.h"

namespace outrider {
namespace {

constexpr std::uint16_t kPort = 9092;

// Takes one of the names, case aside, as the library spells it.
template <std::size_t count>
void take_name(
    wire::Parameters& parameters,
    std::string_view parameter,
    const std::array<std::string_view, count>& names,
    const std::vector<std::string_view>& choices,
    std::string& to
) {
    int place = -1;
    parameters.choice(parameter, choices, place);
    if (place >= 0) to = std::string(names[static_cast<std::size_t>(place)]);
}

Result<void> read_parameters(std::vector<wire::Parameter> given, KafkaOptions& options) {
    constexpr std::array<std::string_view, 3> kMechanisms = {
        "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"};
    constexpr std::array<std::string_view, 5> kCodecs = {"none", "gzip", "snappy", "lz4", "zstd"};
    wire::Parameters parameters(std::move(given));
    take_name(
        parameters, "sasl", kMechanisms, {"plain", "scram-sha-256", "scram-sha-512"}, options.sasl
    );
    take_name(
        parameters, "compression", kCodecs, {kCodecs.begin(), kCodecs.end()}, options.compression
    );
    int partitioner = static_cast<int>(options.partitioner);
    parameters.choice("partitioner", {"murmur2", "crc32"}, partitioner);
    options.partitioner = static_cast<KafkaOptions::Partitioner>(partitioner);
    parameters.duration("statistics", options.statistics);
    parameters.tls(options, "kafkas");
    parameters.wire(options.wire);
    return parameters.finish();
}

Result<void> check(const KafkaOptions& options) {
    if (options.user.empty() != options.password.empty()) {
        return Error{Remedy::correct, "a kafka: URL takes user and password, or neither"};
    }
    const Result<wire::Target> target = kafka::parse_target(options.wire.target);
    if (!target) return target.error();
    return {};
}

}  // namespace

Result<KafkaOptions> parse_kafka_url(std::string_view url, KafkaOptions defaults) {
    Result<wire::Url> parsed = wire::parse_url(url);
    if (!parsed) return parsed.error();
    const bool is_tls = parsed->scheme == "kafkas";
    if (!is_tls && parsed->scheme != "kafka") {
        return Error{Remedy::correct, "expected a kafka: URL"};
    }
    if (!parsed->path.empty()) {
        return Error{Remedy::correct, "a kafka: URL has no path: write the topic as target"};
    }
    KafkaOptions options = std::move(defaults);
    options.tls = is_tls;
    options.endpoints = std::move(parsed->endpoints);
    for (wire::Endpoint& endpoint : options.endpoints) {
        if (endpoint.port == 0) endpoint.port = kPort;
    }
    options.user = parsed->user;
    options.password = parsed->password;
    if (Result<void> read = read_parameters(std::move(parsed->parameters), options); !read) {
        return read.error();
    }
    if (Result<void> good = check(options); !good) return good.error();
    return options;
}

}  // namespace outrider
