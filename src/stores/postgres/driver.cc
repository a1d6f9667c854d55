#include "stores/postgres/driver.h"

#include <mutex>

#include "stores/postgres/admin.h"
#include "stores/postgres/doorbell.h"
#include "stores/postgres/logbook.h"
#include "stores/postgres/store.h"

namespace outrider::postgres {
namespace {

class PostgresDriver final : public StoreDriver {
public:
    PostgresDriver(StoreOptions options, Names names)
        : options_(std::move(options)),
          names_(std::move(names)) {}

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override {
        return PostgresStore::open(options_, destination, lists_);
    }

    [[nodiscard]] Result<std::unique_ptr<Logbook>> open_logbook(
        const Destination& destination,
        std::uint64_t session
    ) override {
        return PostgresLogbook::open(options_, destination.name, session);
    }

    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing /*if_missing*/)
        override {
        return PostgresAdmin::open(options_);
    }

    // The doorbell lives as long as one of its wakers.
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& observer) override {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<Doorbell> doorbell = doorbell_.lock();
        if (!doorbell) {
            doorbell = std::make_shared<Doorbell>(options_, names_, observer);
            doorbell_ = doorbell;
        }
        return Doorbell::make_waker(std::move(doorbell));
    }

private:
    const StoreOptions options_;
    const Names names_;
    TopicLists lists_;
    std::mutex mutex_;
    std::weak_ptr<Doorbell> doorbell_;
};

}  // namespace

std::shared_ptr<StoreDriver> make_driver(StoreOptions options) {
    Result<Names> names = Names::of(options.schema, options.now);
    if (!names) throw Failure(names.error());
    return std::make_shared<PostgresDriver>(std::move(options), std::move(names).value());
}

std::shared_ptr<StoreDriver> open_store(const Options& options) {
    return make_driver(StoreOptions{options});
}

}  // namespace outrider::postgres
