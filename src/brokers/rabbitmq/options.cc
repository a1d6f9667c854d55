#include "brokers/rabbitmq/options.h"

#include "brokers/rabbitmq/route.h"
#include "brokers/wire/parameters.h"

namespace outrider {
namespace {

constexpr std::uint16_t kPort = 5672;
constexpr std::uint16_t kTlsPort = 5671;

Result<void> read_parameters(std::vector<wire::Parameter> given, RabbitmqOptions& options) {
    wire::Parameters parameters(std::move(given));
    int unroutable = static_cast<int>(options.unroutable);
    parameters.text("exchange", options.exchange);
    parameters.choice("unroutable", {"refused", "unacceptable"}, unroutable);
    parameters.duration("heartbeat", options.heartbeat);
    parameters.tls(options, "amqps");
    parameters.wire(options.wire);
    options.unroutable = static_cast<Unroutable>(unroutable);
    return parameters.finish();
}

Result<void> check(const RabbitmqOptions& options) {
    if (options.heartbeat < std::chrono::seconds(1)) {
        return Error{Remedy::correct, "heartbeat must be at least 1s"};
    }
    const Result<rabbitmq::Route> route = rabbitmq::Route::parse(options);
    if (!route) return route.error();
    return {};
}

}  // namespace

Result<RabbitmqOptions> parse_rabbitmq_url(std::string_view url, RabbitmqOptions defaults) {
    Result<wire::Url> parsed = wire::parse_url(url);
    if (!parsed) return parsed.error();
    RabbitmqOptions options = std::move(defaults);
    options.tls = parsed->scheme == "amqps";
    if (!options.tls && parsed->scheme != "amqp") {
        return Error{Remedy::correct, "expected an amqp: URL"};
    }
    options.endpoints = std::move(parsed->endpoints);
    for (wire::Endpoint& endpoint : options.endpoints) {
        if (endpoint.port == 0) endpoint.port = options.tls ? kTlsPort : kPort;
    }
    if (!parsed->user.empty()) {
        options.user = parsed->user;
        options.password = parsed->password;
    }
    if (!parsed->path.empty()) options.vhost = parsed->path;
    if (Result<void> read = read_parameters(std::move(parsed->parameters), options); !read) {
        return read.error();
    }
    if (Result<void> good = check(options); !good) return good.error();
    return options;
}

}  // namespace outrider
