#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "outrider/error.h"

#include "core/broker.h"

namespace outrider::wire {

// A driver whose connections are made by one function, which may be called from any thread.
[[nodiscard]] std::shared_ptr<BrokerDriver> make_driver(
    std::function<Result<std::unique_ptr<Broker>>()> open
);

// The driver of a URL, for programs, which expect a Failure where it is wrong.
template <auto parse, auto make>
[[nodiscard]] std::shared_ptr<BrokerDriver> driver_of(std::string_view url) {
    const auto options = parse(url, {});
    if (!options) throw Failure(options.error());
    return make(*options);
}

}  // namespace outrider::wire
