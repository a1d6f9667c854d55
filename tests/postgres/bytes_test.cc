#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "postgres/log.h"

// A claim keeps to its bytes. Small rows have a limit each; from the first large one on, claims add
// up, and for a while after the last.

namespace outrider {
namespace {

constexpr std::size_t kBytes = 64'000;
constexpr std::size_t kMessages = 320;

class PostgresBytes : public ::testing::Test {
protected:
    PostgresBytes() : session(log.conninfo), store(log.open(everything())) {}

    void write(int count, std::size_t size) {
        session.run(
            "insert into outrider.message (topic, key, payload) select 't', 'k' || i % 40, "
            "convert_to(lpad(i::text, " +
            std::to_string(size) + ", '.'), 'UTF8') from generate_series(" +
            std::to_string(written + 1) + ", " + std::to_string(written + count) + ") i"
        );
        written += count;
    }

    // Settles everything; false when there was nothing.
    bool take_some() {
        Result<Batch> batch = store->claim({kMessages, kBytes});
        EXPECT_TRUE(batch) << batch.error().text;
        std::size_t bytes = 0;
        std::size_t largest = 0;
        for (const Envelope& envelope : batch->envelopes) {
            bytes += envelope.payload.size();
            largest = std::max(largest, envelope.payload.size());
            note(envelope);
        }
        // A lane may have one more than its share, as an empty batch would not move on.
        EXPECT_LE(bytes, kBytes + 16 * largest);
        most = std::max(most, bytes);
        if (!batch->hold) return false;
        Settlement done;
        done.fate = Fate::done;
        const std::vector<Settlement> all(batch->envelopes.size(), done);
        EXPECT_TRUE(store->settle(std::move(batch).value(), all));
        return true;
    }

    void note(const Envelope& envelope) {
        const std::string payload(envelope.payload);
        const std::size_t digits = payload.find_first_not_of('.');
        ASSERT_NE(digits, std::string::npos) << "a payload is missing";
        const int number = std::stoi(payload.substr(digits));
        int& last = last_of_key[number % 40];
        EXPECT_LT(last, number) << "order of a key";
        last = number;
        ++taken;
    }

    void take_everything() {
        while (take_some()) {
        }
        EXPECT_EQ(taken, written);
    }

    PostgresLog log{16};
    PostgresSession session;
    std::unique_ptr<Store> store;
    std::map<int, int> last_of_key;
    std::size_t most = 0;
    int written = 0;
    int taken = 0;
};

TEST_F(PostgresBytes, SmallRowsFillABatch) {
    write(1000, 60);
    take_everything();
    EXPECT_GE(most, kMessages * 60 * 9 / 10);
}

TEST_F(PostgresBytes, ALargeRowIsReadWhereverItStands) {
    write(1, kBytes * 3);
    write(200, 60);
    write(2, kBytes * 3);
    write(200, 60);
    take_everything();
}

TEST_F(PostgresBytes, ManyLargeRowsComeInPieces) {
    write(500, kBytes / 20);
    take_everything();
    EXPECT_GE(most, kBytes / 2);
    EXPECT_LE(most, kBytes * 2);
}

TEST_F(PostgresBytes, SmallRowsAreReadAsBeforeAWhileAfterTheLastLargeOne) {
    write(1, kBytes);
    for (int turns = 0; turns < 100; ++turns) {
        write(5, 60);
        take_everything();
    }
    write(1, kBytes);
    write(1000, 60);
    take_everything();
}

TEST(PostgresBytesOf, WhatIsNotPayloadCountsAsWell) {
    const PostgresLog log(1);
    const PostgresSession session(log.conninfo);
    session.run(
        "insert into outrider.message (topic, key, payload, type, headers) "
        "select 't', 'k', i::text::bytea, case when i % 2 = 0 then repeat('x', 1000000) end, "
        "case when i % 2 = 1 then jsonb_build_object('h', repeat('y', 1000000)) end "
        "from generate_series(1, 30) i"
    );
    const auto store = log.open(everything());
    std::size_t taken = 0;
    for (int turns = 0; taken < 30 && turns < 100; ++turns) {
        Result<Batch> batch = store->claim({100, 4'000'000});
        ASSERT_TRUE(batch) << batch.error().text;
        EXPECT_LE(batch->envelopes.size(), 5U) << "a megabyte each";
        for (const Envelope& envelope : batch->envelopes) {
            EXPECT_EQ(envelope.payload, std::to_string(++taken));
            EXPECT_EQ(envelope.type.size(), taken % 2 == 0 ? 1'000'000U : 0U);
        }
        if (!batch->hold) continue;
        Settlement done;
        done.fate = Fate::done;
        const std::vector<Settlement> all(batch->envelopes.size(), done);
        ASSERT_TRUE(store->settle(std::move(batch).value(), all));
    }
    EXPECT_EQ(taken, 30U);
}

}  // namespace
}  // namespace outrider
