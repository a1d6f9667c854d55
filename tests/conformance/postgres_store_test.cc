#include "conformance/postgres_harness.h"
#include "support/pooler.h"

namespace outrider {
namespace {

// Everybody's clock is set to a place where it is another day.
std::string in_zone(const std::string& name) {
    return " options='-c TimeZone=" + name + "'";
}

// Reached through PgBouncer in transaction mode.
class PooledHarness final : public PostgresHarness {
public:
    explicit PooledHarness(int lanes) : PostgresHarness(lanes, pooler().place()) {}
    [[nodiscard]] bool knows_the_living() const override { return false; }

private:
    static const Pooler& pooler() {
        static const Pooler pooler(PostgresServer::shared());
        return pooler;
    }
};

INSTANTIATE_TEST_SUITE_P(
    Postgres,
    StoreSuite,
    ::testing::Values(
        store_parameter<PostgresHarness>("one_lane", 1, in_zone("Pacific/Kiritimati")),
        store_parameter<PostgresHarness>("lanes", 16, in_zone("Pacific/Pago_Pago")),
        store_parameter<PooledHarness>("pooled", 4)
    ),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
