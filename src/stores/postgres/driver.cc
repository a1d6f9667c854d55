#include "stores/postgres/driver.h"

#include "stores/postgres/admin.h"
#include "stores/postgres/store.h"
#include "stores/postgres/waker.h"

namespace outrider::postgres {
namespace {

class PostgresDriver final : public StoreDriver {
public:
    explicit PostgresDriver(StoreOptions options) : options_(std::move(options)) {}

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override {
        return PostgresStore::open(options_, destination);
    }

    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing /*if_missing*/)
        override {
        return PostgresAdmin::open(options_);
    }

    [[nodiscard]] std::unique_ptr<Waker> make_waker() override {
        return std::make_unique<PollingWaker>();
    }

private:
    const StoreOptions options_;
};

}  // namespace

std::shared_ptr<StoreDriver> make_driver(StoreOptions options) {
    return std::make_shared<PostgresDriver>(std::move(options));
}

}  // namespace outrider::postgres
