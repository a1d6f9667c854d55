#include <array>
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "core/dice.h"
#include "postgres/log.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"

// Keys of advisory locks are hashes. Were they of four bits, lanes of two destinations would share
// theirs all the time: that may cost turns, and nothing else.

namespace outrider {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kDestinations = 2;
constexpr int kThreads = 4;

std::int64_t short_key(std::size_t destination, std::int64_t lane) {
    const auto names = postgres::Names::of("outrider", "now()");
    return postgres::lane_lock(*names, static_cast<std::int64_t>(destination), lane) & 15;
}

// Two for each destination.
void in_threads(const std::function<void(std::size_t destination, std::uint64_t seed)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back(work, static_cast<std::size_t>(i) % kDestinations, i);
    }
    for (std::thread& thread : threads) thread.join();
}

// The lanes that claim_lock.sql takes, tried from this one on.
std::vector<std::size_t> take_lanes(
    const postgres::Connection& connection,
    std::size_t destination,
    std::uint64_t first
) {
    postgres::ArrayText locks;
    postgres::ArrayText lanes;
    for (std::size_t i = 0; i < kLanes; ++i) {
        const auto lane = static_cast<std::int64_t>((first + i) % kLanes);
        locks.add(short_key(destination, lane));
        lanes.add(lane);
    }
    const auto ask = [&](const std::string& sql, const postgres::Parameters& parameters = {}) {
        Result<postgres::Rows> rows = connection.run(sql, parameters);
        if (!rows) throw std::runtime_error(rows.error().text);
        return std::move(rows).value();
    };
    ask("begin");
    ask(std::string(postgres::sql::claim_lock),
        postgres::Parameters()
            .add(std::string_view(locks.text()))
            .add(std::string_view(lanes.text()))
            .add(std::int64_t{kLanes / 2}));
    const postgres::Rows taken =
        ask("select l::bigint from unnest(current_setting('outrider.lanes')::smallint[]) l");
    std::vector<std::size_t> result;
    for (int row = 0; row < taken.count(); ++row) {
        result.push_back(static_cast<std::size_t>(taken.integer(row, 0)));
    }
    return result;
}

TEST(PostgresShortKeys, ALaneHasOneHolderAndNoneIsStarved) {
    const PostgresLog log;
    std::array<std::array<std::atomic<int>, kLanes>, kDestinations> holders{};
    std::array<std::array<std::atomic<int>, kLanes>, kDestinations> turns{};
    std::atomic<int> twice = 0;
    in_threads([&](std::size_t destination, std::uint64_t seed) {
        const auto connection = postgres::Connection::open(log.conninfo);
        SeededDice dice(seed);
        for (int round = 0; round < 300; ++round) {
            const auto lanes = take_lanes(*connection, destination, dice.pick(kLanes));
            for (const std::size_t lane : lanes) {
                twice += holders.at(destination).at(lane).fetch_add(1);
                ++turns.at(destination).at(lane);
            }
            for (const std::size_t lane : lanes) --holders.at(destination).at(lane);
            ASSERT_TRUE(connection->run_script("rollback"));
        }
    });
    EXPECT_EQ(twice, 0);
    for (std::size_t destination = 0; destination < kDestinations; ++destination) {
        std::set<std::int64_t> keys;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            keys.insert(short_key(destination, static_cast<std::int64_t>(lane)));
            EXPECT_GT(turns.at(destination).at(lane), 0) << destination << " " << lane;
        }
        EXPECT_LT(keys.size(), kLanes) << "no lanes share a lock: the test shows nothing";
    }
}

TEST(PostgresShortKeys, OperatorsWhoTakeAllLanesDoNotWaitForEachOtherForEver) {
    const PostgresLog log;
    const std::string sql =
        postgres::Names::fill(postgres::sql::lock_all_lanes, "is_locked", "true");
    std::atomic<int> taken = 0;
    in_threads([&](std::size_t destination, std::uint64_t /*seed*/) {
        const auto connection = postgres::Connection::open(log.conninfo);
        postgres::ArrayText locks;
        for (std::size_t i = 0; i < kLanes; ++i) {
            locks.add(short_key(destination, static_cast<std::int64_t>(i)));
        }
        for (int round = 0; round < 100; ++round) {
            ASSERT_TRUE(connection->run_script("begin"));
            const Result<postgres::Rows> all = connection->run(
                sql,
                postgres::Parameters()
                    .add(short_key(destination, -1))
                    .add(std::string_view(locks.text()))
            );
            EXPECT_TRUE(all) << all.error().text;
            if (all) ++taken;
            ASSERT_TRUE(connection->run_script("rollback"));
        }
    });
    EXPECT_EQ(taken, kThreads * 100);
}

}  // namespace
}  // namespace outrider
