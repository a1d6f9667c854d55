#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outrider/time.h"

#include "brokers/wire/options.h"
#include "brokers/wire/url.h"
#include "core/result.h"

namespace outrider {

// How to reach a NATS server with JetStream, and how to publish there.
struct NatsOptions : wire::Tls {
    // Servers of one cluster; the first that answers is used.
    std::vector<wire::Endpoint> endpoints;

    // Empty: no login of that sort. At most one sort may be given.
    std::string user;
    std::string password;
    std::string token;
    std::string creds;  // a file with a JWT and a seed, as nsc writes them

    // The name that the server's certificate must have. Empty: the host's.
    std::string tls_name;

    // The stream that must take the messages; one that another stream takes is refused. Empty: any.
    std::string stream;

    // Whether the server is told the message's id (Nats-Msg-Id) and drops what it has
    // already, within the duplicate window of the stream. Costs the server 10 to 30 % of its speed.
    bool deduplicate = true;

    // Where JetStream is asked questions: that of the account and domain that have the streams.
    // Empty: nowhere, since it cannot be reached from here.
    std::string api = "$JS.API";

    // How long the server may be silent while it owes acknowledgements.
    Duration ack_wait = std::chrono::seconds(10);

    wire::Options wire;
};

// Reads nats://[user:password@]host[:port][,host...][?stream=&deduplicate=&api=&ack_wait=&token=
// &creds=&tls_ca=&tls_cert=&tls_key=&tls_name=&target=&format=&source=] over the given defaults;
// natss: is the same with TLS. No part of the URL but names is ever quoted in an error.
[[nodiscard]] Result<NatsOptions> parse_nats_url(std::string_view url, NatsOptions defaults = {});

}  // namespace outrider
