#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "postgres/log.h"

// Every order in which overlapping transactions can end, every way in which they can end, and every
// choice of moments at which a reader looks. No chance here: what a reader by number loses shows in
// the smallest of these.

namespace outrider {
namespace {

using Payloads = std::vector<std::string>;
using Endings = std::vector<std::size_t>;

constexpr std::size_t kMost = 5;

// Bit i stands for the i-th transaction that ends.
using Moments = unsigned;

constexpr Moments all_of(std::size_t count) {
    return (1U << count) - 1;
}

enum class Ids { with_the_number, early };

class PostgresPermutations : public ::testing::Test {
protected:
    PostgresPermutations() {
        for (std::size_t i = 0; i < kMost; ++i) {
            sessions_.push_back(std::make_unique<PostgresSession>(log_.conninfo));
        }
    }

    // All are open at once. Early ids are drawn in one order and the numbers in the other.
    void begin(std::size_t count, Ids ids) {
        for (std::size_t i = 0; i < count; ++i) {
            sessions_[i]->run("begin");
            if (ids == Ids::early) sessions_[i]->run("select pg_current_xact_id()");
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t who = ids == Ids::early ? count - 1 - i : i;
            insert(*sessions_[who], std::to_string(who), std::to_string(who));
        }
    }

    // They end in this order, and what was committed since the last look is found by the next one:
    // once, and nothing else.
    void play(const Endings& endings, Ids ids, Moments commits, Moments looks) {
        begin(endings.size(), ids);
        Payloads due;
        for (std::size_t i = 0; i < endings.size(); ++i) {
            const bool stays = (commits >> i & 1U) != 0;
            sessions_[endings[i]]->run(stays ? "commit" : "rollback");
            if (stays) due.push_back(std::to_string(endings[i]));
            if ((looks >> i & 1U) != 0) expect(std::exchange(due, {}));
        }
        expect(due);
        ++plays_;
    }

    void expect(Payloads due) {
        Payloads found = take_all(*store_);
        std::sort(found.begin(), found.end());
        std::sort(due.begin(), due.end());
        EXPECT_EQ(found, due) << "in play " << plays_;
    }

    template <class Play>
    static void for_every_order(std::size_t count, const Play& play) {
        Endings endings(count);
        std::iota(endings.begin(), endings.end(), 0);
        do {
            play(endings);
        } while (std::next_permutation(endings.begin(), endings.end()) && !HasFailure());
    }

    PostgresLog log_{2};
    std::vector<std::unique_ptr<PostgresSession>> sessions_;
    std::unique_ptr<Store> store_ = log_.open(everything());
    int plays_ = 0;
};

TEST_F(PostgresPermutations, OfFiveCommitsAreAllFound) {
    for (const Ids ids : {Ids::with_the_number, Ids::early}) {
        for_every_order(5, [&](const Endings& endings) {
            play(endings, ids, all_of(5), all_of(5));
        });
    }
    EXPECT_EQ(plays_, 2 * 120);
}

TEST_F(PostgresPermutations, OfThreeAreFoundWhicheverRollBackAndWheneverOneLooks) {
    for (const Ids ids : {Ids::with_the_number, Ids::early}) {
        for_every_order(3, [&](const Endings& endings) {
            for (Moments commits = 0; commits <= all_of(3); ++commits) {
                for (Moments looks = 0; looks < all_of(2) + 1; ++looks) {
                    play(endings, ids, commits, looks);  // and at the end anyway
                }
            }
        });
    }
    EXPECT_EQ(plays_, 2 * 6 * 8 * 4);
}

}  // namespace
}  // namespace outrider
