#include "brokers/rabbitmq/route.h"

namespace outrider::rabbitmq {
namespace {

// A short string of the protocol.
constexpr std::size_t kNameBytesMax = 255;

}  // namespace

Result<Route> Route::parse(const RabbitmqOptions& options) {
    std::string_view exchange = options.exchange;
    std::string_view key = options.wire.target;
    if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
        exchange = key.substr(0, slash);
        key.remove_prefix(slash + 1);
    }
    Route route;
    if (!exchange.empty()) {
        Result<wire::Target> target = wire::Target::parse(exchange);
        if (!target) return target.error();
        route.exchange_target_ = std::move(target).value();
    }
    Result<wire::Target> target = wire::Target::parse(key);
    if (!target) return target.error();
    route.key_target_ = std::move(target).value();
    return route;
}

std::string_view Route::fill_in(const Envelope& envelope) {
    exchange_.clear();
    routing_key_.clear();
    if (exchange_target_) exchange_target_->append(exchange_, envelope);
    key_target_->append(routing_key_, envelope);
    if (exchange_.size() > kNameBytesMax) return "the exchange has more than 255 bytes";
    if (routing_key_.size() > kNameBytesMax) return "the routing key has more than 255 bytes";
    return {};
}

}  // namespace outrider::rabbitmq
