#include <sqlite3.h>

#include "outrider/sqlite.h"

#include "conformance/memory_harness.h"
#include "stores/sqlite/driver.h"
#include "support/sqlite_session.h"
#include "support/temp_folder.h"

namespace outrider {
namespace {

class SqliteHarness final : public StoreHarness {
public:
    SqliteHarness() : session_(folder_.file("shop.db")) { sqlite::migrate(session_.get()); }

    std::shared_ptr<StoreDriver> driver() override {
        return sqlite::make_driver(folder_.file("shop.db"), clock);
    }
    void commit(const std::vector<Message>& messages) override { write(messages, "commit"); }
    void roll_back(const std::vector<Message>& messages) override { write(messages, "rollback"); }
    std::size_t kept() override {
        return std::stoul(session_.value("select count(*) from outrider_message"));
    }

private:
    // The database would take the time of the machine; the tests have a clock of their own.
    void write(std::vector<Message> messages, const char* end) {
        for (Message& message : messages) {
            if (!message.occurred_at) message.occurred_at = clock->wall();
        }
        session_.run("begin");
        sqlite::enqueue(session_.get(), messages);
        session_.run(end);
    }

    TempFolder folder_;
    SqliteSession session_;
};

INSTANTIATE_TEST_SUITE_P(
    Stores,
    StoreSuite,
    ::testing::Values(
        store_parameter<MemoryHarness>("memory", std::size_t{1}),
        store_parameter<MemoryHarness>("memory_lanes", std::size_t{4}),
        store_parameter<SqliteHarness>("sqlite")
    ),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
