#include <atomic>
#include <cstdio>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "outrider/relay.h"
#include "outrider/testing.h"

#include "postgres/short_cut.h"
#include "postgres/storm_writer.h"
#include "support/environment.h"

// Every sort of writer at once, two relays with two destinations each, one of which refuses, while
// segments are left and emptied as fast as they can be. What writers committed stands in a table of
// their own, written in the same transactions.

namespace outrider {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(90);
constexpr std::uint64_t kWriters = 5;

// One of the two destinations, and what has arrived there.
constexpr std::size_t kCommitted = 200;

struct Place {
    Place(std::string name, std::vector<std::string> topics) : destination(everything(name)) {
        destination.topics = std::move(topics);
        destination.workers = 2;
        destination.batch.messages = 20;
        destination.retry.attempts_max = 0;
        destination.retry.delay_first = milliseconds(5);
        destination.retry.delay_max = milliseconds(50);
    }

    // In the database's words.
    [[nodiscard]] std::string takes() const {
        std::string sql = "false";
        for (const std::string& topic : destination.topics) {
            std::string pattern = topic;
            if (pattern.back() == '*') pattern.back() = '%';
            sql += " or topic like '" + pattern + "'";
        }
        return sql;
    }

    // Everything that was committed, in order per key, nothing else, nothing twice.
    void judge(const std::vector<std::string>& truth) const {
        const std::set<std::string> committed(truth.begin(), truth.end());
        std::set<std::string> seen;
        std::map<std::string, std::uint64_t> last;
        for (const testing::Received& received : broker.received()) {
            ASSERT_TRUE(committed.contains(received.payload)) << "phantom " << received.payload;
            EXPECT_TRUE(seen.insert(received.payload).second) << "twice " << received.payload;
            const auto position = std::stoull(received.payload.substr(received.key.size() + 1));
            EXPECT_EQ(position, last[received.key] + 1)
                << destination.name << ": order or loss of key " << received.key;
            last[received.key] = position;
        }
        EXPECT_EQ(seen.size(), committed.size()) << destination.name << ": lost";
        EXPECT_GT(committed.size(), kCommitted);
    }

    Destination destination;
    testing::MemoryBroker broker;
};

class PostgresStorm : public ::testing::Test {
protected:
    PostgresStorm() : log(8, server()), session(log.conninfo) {
        session.run("create table counter (key int primary key, n int not null)");
        session.run("create table truth (topic text, payload text primary key)");
        session.run(
            "insert into counter select i, 0 from generate_series(0, " +
            std::to_string(storm::kKeys - 1) + ") i"
        );
    }

    static PostgresServer& server() {
        static PostgresServer server("max_prepared_transactions = 50");
        return server;
    }

    [[nodiscard]] std::unique_ptr<Relay> relay() {
        RelayOptions options;
        options.retention = Duration::zero();
        auto relay = std::make_unique<Relay>(log.driver(), options);
        relay->add(orders.destination, orders.broker.driver());
        relay->add(mail.destination, testing::faulty_broker(mail.broker.driver(), refuses_some()));
        relay->start();
        return relay;
    }

    testing::FaultRule refuses_some() {
        return [this](const Delivery&) {
            if (++offered_ % 7 != 0) return testing::Fault::none;
            ++refused_;
            return testing::Fault::refuse;
        };
    }

    void write() {
        std::atomic<bool> writing = true;
        std::vector<std::thread> threads;
        for (std::uint64_t i = 0; i < kWriters; ++i) {
            threads.emplace_back([&, i] {
                storm::Writer writer(log.conninfo, i, had_);
                EXPECT_NO_THROW(writer.run(writing));
            });
        }
        const auto end = Clock::now() + std::chrono::seconds(number_from("STORM_SECONDS", 10));
        // A busy machine gets more time until it was a storm.
        while (Clock::now() < end || (!is_a_storm() && Clock::now() < end + kPatience)) clean();
        writing = false;
        for (std::thread& thread : threads) thread.join();
    }

    [[nodiscard]] bool is_a_storm() const {
        return refused_ > 0 && had_.copied > 0 && had_.two_phase > 0 && had_.again > 0 &&
               emptied_ > 3 && truth(orders).size() > kCommitted && truth(mail).size() > kCommitted;
    }

    // Retention zero: every round rotates if it can, and truncates what everyone has passed.
    void clean() {
        short_cut::age_segments(session);
        const Result<std::uint64_t> emptied = log.admin()->clean_up(Duration::zero(), 1000);
        ASSERT_TRUE(emptied) << emptied.error().text;
        emptied_ += *emptied;
        std::this_thread::sleep_for(milliseconds(30));
    }

    [[nodiscard]] std::vector<std::string> truth(const Place& place) const {
        return session.column("select payload from truth where " + place.takes());
    }

    void await(const Place& place) {
        const std::size_t count = truth(place).size();
        const auto deadline = Clock::now() + kPatience;
        while (place.broker.received().size() < count && Clock::now() < deadline) clean();
    }

    PostgresLog log;
    PostgresSession session;
    Place orders{"orders", {"orders.*"}};
    Place mail{"mail", {"orders.paid", "mail.*"}};
    std::atomic<int> offered_ = 0;
    std::atomic<int> refused_ = 0;
    storm::Had had_;
    std::uint64_t emptied_ = 0;
};

TEST_F(PostgresStorm, BringsEachDestinationAllOfItsOwnInOrder) {
    {
        const auto first = relay();
        const auto second = relay();
        write();
        await(orders);
        await(mail);
    }
    orders.judge(truth(orders));
    mail.judge(truth(mail));
    std::printf(
        "  %s committed, %d refused, %d copies, %d in two phases, %d tried again, %d segments "
        "emptied\n",
        session.value("select count(*) from truth").c_str(),
        refused_.load(),
        had_.copied.load(),
        had_.two_phase.load(),
        had_.again.load(),
        static_cast<int>(emptied_)
    );
    for (const std::atomic<int>* count : {&refused_, &had_.copied, &had_.two_phase, &had_.again}) {
        EXPECT_GT(*count, 0) << "a storm without that";
    }
    EXPECT_GT(emptied_, 3U) << "no segment was used twice";
}

}  // namespace
}  // namespace outrider
