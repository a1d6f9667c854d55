#include "brokers/wire/driver.h"

namespace outrider::wire {
namespace {

class FunctionDriver final : public BrokerDriver {
public:
    explicit FunctionDriver(std::function<Result<std::unique_ptr<Broker>>()> open)
        : open_(std::move(open)) {}

    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override { return open_(); }

private:
    const std::function<Result<std::unique_ptr<Broker>>()> open_;
};

}  // namespace

std::shared_ptr<BrokerDriver> make_driver(std::function<Result<std::unique_ptr<Broker>>()> open) {
    return std::make_shared<FunctionDriver>(std::move(open));
}

}  // namespace outrider::wire
