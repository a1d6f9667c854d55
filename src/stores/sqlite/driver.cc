#include "stores/sqlite/driver.h"

#include <filesystem>

#include "outrider/sqlite_store.h"

#include "stores/sqlite/admin.h"
#include "stores/sqlite/logbook.h"
#include "stores/sqlite/store.h"
#include "stores/sqlite/waker.h"

namespace outrider::sqlite {
namespace {

// The relay may start after its process has gone to another folder. A URI stays as it is, and is
// refused when it is opened.
std::string absolute(std::string path) {
    if (path.starts_with("file:")) return path;
    std::error_code error;
    const auto whole = std::filesystem::absolute(path, error);
    return error ? std::move(path) : whole.string();
}

class SqliteDriver final : public StoreDriver {
public:
    SqliteDriver(std::string path, std::shared_ptr<Clock> clock)
        : path_(absolute(std::move(path))),
          clock_(std::move(clock)) {}

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override {
        return SqliteStore::open(real_path(), destination, clock_, lists_);
    }

    [[nodiscard]] Result<std::unique_ptr<Logbook>> open_logbook(
        const Destination& destination,
        std::uint64_t session
    ) override {
        return SqliteLogbook::open(real_path(), destination.name, session);
    }

    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) override {
        return SqliteAdmin::open(real_path(), if_missing, clock_);
    }

    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& /*observer*/) override {
        return std::make_unique<SqliteWaker>(real_path());
    }

private:
    // Two names of one file must share one lock file.
    [[nodiscard]] std::string real_path() const {
        std::error_code error;
        const auto resolved = std::filesystem::weakly_canonical(path_, error);
        return error ? path_ : resolved.string();
    }

    const std::string path_;
    const std::shared_ptr<Clock> clock_;
    TopicLists lists_;
};

}  // namespace

std::shared_ptr<StoreDriver> make_driver(std::string path, std::shared_ptr<Clock> clock) {
    return std::make_shared<SqliteDriver>(std::move(path), std::move(clock));
}

std::shared_ptr<StoreDriver> open_store(std::string path) {
    return make_driver(std::move(path), std::make_shared<SystemClock>());
}

}  // namespace outrider::sqlite
