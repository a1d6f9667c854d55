#include "conformance/postgres_harness.h"

namespace outrider {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Postgres,
    StoreSuite,
    ::testing::Values(
        store_parameter<PostgresHarness>("one_lane", 1),
        store_parameter<PostgresHarness>("lanes", 16)
    ),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
