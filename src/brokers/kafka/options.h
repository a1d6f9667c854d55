#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

#include "brokers/wire/options.h"
#include "brokers/wire/url.h"
#include "core/result.h"

namespace outrider {

// How to reach a Kafka cluster, and how to publish there.
struct KafkaOptions : wire::Tls {
    // Some brokers of the cluster; the others are learnt from them.
    std::vector<wire::Endpoint> endpoints;

    // Empty: no login.
    std::string user;
    std::string password;

    // How the login is proved: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
    std::string sasl = "PLAIN";

    // none, gzip, snappy, lz4 or zstd.
    std::string compression = "none";

    // Which partition a key goes to. By murmur2 as Java's clients do it, or by CRC-32 as those made
    // of librdkafka do it by default.
    enum class Partitioner : std::uint8_t { murmur2, crc32 };
    Partitioner partitioner = Partitioner::murmur2;

    // How often the library counts for Broker::take_statistics(). 0: never. Nothing comes while
    // nothing is published.
    Duration statistics = Duration::zero();

    wire::Options wire;
};

// Reads kafka://[user:password@]host[:port][,host...][?sasl=&tls_ca=&tls_cert=&tls_key=
// &compression=&partitioner=&statistics=&target=&format=&source=] over the given defaults; kafkas:
// is the same with TLS. No part of the URL but names is ever quoted in an error.
[[nodiscard]] Result<KafkaOptions> parse_kafka_url(
    std::string_view url,
    KafkaOptions defaults = {}
);

}  // namespace outrider
