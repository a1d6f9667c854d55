#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "core/dice.h"
#include "postgres/late_floor.h"
#include "support/environment.h"

// Long transactions beside a stream of messages, readers that take a few at a time and leave a lane
// alone now and then: a window is looked at in many pieces, and lanes stand at many places.

namespace outrider::late {
namespace {

class Storm {
public:
    Storm() : log_(4, short_cut::quiet_server()) {}

    void run(Clock::duration duration) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([this, i] { write_late(i); });
        threads.emplace_back([this] { write_bulk(); });
        std::vector<std::thread> readers;
        for (const std::size_t messages : {3U, 12U}) {
            readers.emplace_back([this, messages] { read(messages); });
        }
        std::this_thread::sleep_for(duration);
        writing_ = false;
        for (std::thread& thread : threads) thread.join();
        written_ = true;
        for (std::thread& reader : readers) reader.join();
        const PostgresSession session(log_.conninfo);
        add(delivered_, drain(*log_.open(everything()), 100).payloads);
        expect_all(session, delivered_);
        expect_floors(session);
        EXPECT_GT(empty_, 0) << "the limit of numbers did not matter";
        EXPECT_GT(delivered_.size(), 1000U);
        std::printf("  %zu messages, %d claims without any\n", delivered_.size(), empty_.load());
    }

private:
    void write_bulk() {
        const PostgresSession session(log_.conninfo);
        Bulk bulk;
        while (writing_) {
            bulk.write(session, 100);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }

    // Long transactions, each with keys of its own; one in five is rolled back.
    void write_late(int number) {
        const PostgresSession session(log_.conninfo);
        SeededDice dice(static_cast<std::uint64_t>(number));
        const std::string name = "late" + std::to_string(number);
        int place = 0;
        while (writing_) {
            session.run("begin");
            const auto steps = static_cast<int>(1 + dice.pick(6));
            for (int i = 1; i <= steps; ++i) {
                for (const char* key : {"a", "b", "c"}) write(session, name + key, place + i);
                std::this_thread::sleep_for(std::chrono::milliseconds(dice.pick(400)));
            }
            const bool stays = dice.chance(0.8);
            session.run(stays ? "commit" : "rollback");
            if (stays) place += steps;
        }
    }

    void read(std::size_t messages) {
        Destination destination = everything();
        destination.workers = 2;
        const auto store = log_.open(destination);
        SeededDice dice(messages);
        while (!written_) {
            Result<Batch> batch = store->claim({messages, 1U << 20U});
            ASSERT_TRUE(batch) << batch.error().text;
            if (!batch->hold) continue;
            if (batch->full && batch->envelopes.empty()) ++empty_;
            // Now and then one lane is left as it is, from some message on.
            std::vector<Settlement> settlements(batch->envelopes.size());
            const auto silent = static_cast<std::uint32_t>(dice.pick(16));
            const std::lock_guard lock(mutex_);
            for (std::size_t i = 0; i < settlements.size(); ++i) {
                const Envelope& envelope = batch->envelopes[i];
                if (envelope.lane == silent) continue;
                settlements[i].fate = Fate::done;
                delivered_.emplace_back(envelope.payload);
            }
            const Result<void> settled = store->settle(std::move(batch).value(), settlements);
            ASSERT_TRUE(settled) << settled.error().text;
        }
    }

    PostgresLog log_;
    std::atomic<bool> writing_ = true;
    std::atomic<bool> written_ = false;
    std::mutex mutex_;
    Payloads delivered_;
    std::atomic<int> empty_ = 0;
};

TEST(PostgresLateStorm, LosesNothingInAStormOfLongTransactions) {
    Storm().run(std::chrono::seconds(number_from("STORM_SECONDS", 6)));
}

}  // namespace
}  // namespace outrider::late
