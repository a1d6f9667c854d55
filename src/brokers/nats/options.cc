#include "brokers/nats/options.h"

#include "brokers/nats/subject.h"
#include "brokers/wire/parameters.h"

namespace outrider {
namespace {

constexpr std::uint16_t kPort = 4222;

Result<void> read_parameters(std::vector<wire::Parameter> given, NatsOptions& options) {
    wire::Parameters parameters(std::move(given));
    parameters.text("stream", options.stream);
    parameters.flag("deduplicate", options.deduplicate);
    parameters.text("api", options.api);
    parameters.duration("ack_wait", options.ack_wait);
    parameters.text("token", options.token);
    parameters.text("creds", options.creds);
    parameters.tls(options, "natss");
    parameters.text("tls_name", options.tls_name);
    parameters.wire(options.wire);
    return parameters.finish();
}

Result<void> check(const NatsOptions& options) {
    const int logins = (options.user.empty() ? 0 : 1) + (options.token.empty() ? 0 : 1) +
                       (options.creds.empty() ? 0 : 1);
    if (logins > 1) {
        return Error{Remedy::correct, "a nats: URL takes a user, a token or creds: one of them"};
    }
    if (options.ack_wait <= Duration::zero()) {
        return Error{Remedy::correct, "ack_wait must be longer than 0"};
    }
    if (options.api.find_first_of(" *>\t\r\n") != std::string::npos) {
        return Error{Remedy::correct, "api has white space or a wildcard in it"};
    }
    const Result<wire::Target> target = nats::parse_target(options.wire.target);
    if (!target) return target.error();
    if (nats::is_order(options.wire.target, options.api)) {
        return Error{
            Remedy::correct, "the target of a nats: URL gives orders to the server ($JS., $SYS.)"};
    }
    return {};
}

}  // namespace

Result<NatsOptions> parse_nats_url(std::string_view url, NatsOptions defaults) {
    Result<wire::Url> parsed = wire::parse_url(url);
    if (!parsed) return parsed.error();
    const bool is_tls = parsed->scheme == "natss";
    if (!is_tls && parsed->scheme != "nats") return Error{Remedy::correct, "expected a nats: URL"};
    if (!parsed->path.empty()) return Error{Remedy::correct, "a nats: URL has no path"};
    NatsOptions options = std::move(defaults);
    options.tls = is_tls;
    options.endpoints = std::move(parsed->endpoints);
    for (wire::Endpoint& endpoint : options.endpoints) {
        if (endpoint.port == 0) endpoint.port = kPort;
    }
    if (!parsed->user.empty() && parsed->password.empty()) {
        // Whoever prints a URL knows that a token= is secret; a user may be taken for a name.
        return Error{Remedy::correct, "write a token as ?token=..., not before the @"};
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
