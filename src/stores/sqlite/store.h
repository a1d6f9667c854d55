#pragma once

#include <memory>

#include "core/clock.h"
#include "core/store.h"
#include "core/topics.h"
#include "stores/shared/parked_share.h"
#include "stores/shared/topic_list.h"
#include "stores/sqlite/claim.h"
#include "stores/sqlite/connection.h"
#include "stores/sqlite/lock.h"

namespace outrider::sqlite {

// The statements of the hot path, prepared once per connection.
struct StoreStatements {
    Statement claim_cursor;
    Statement claim_due;
    Statement claim_chain;
    Statement claim_next_due;
    Statement claim_blocked;
    Statement claim_log;
    Statement claim_known;
    Statement settle_cursor;
    Statement settle_park;
    Statement settle_park_again;
    Statement settle_unpark;
    Statement settle_bury;
    Statement settle_bury_parked;
    Statement refresh_key;
    Statement drop_key;

    [[nodiscard]] static Result<StoreStatements> prepare(const Connection& connection);
};

// A store for one destination of a SQLite database. There is one lane, the destination itself, and
// whoever holds its lock has it until the store is closed, so a claim holds no transaction while
// the broker answers: writers never wait for a broker.
class SqliteStore final : public Store {
public:
    [[nodiscard]] static Result<std::unique_ptr<Store>> open(
        const std::string& path,
        const Destination& destination,
        std::shared_ptr<Clock> clock,
        TopicLists& lists
    );

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override;
    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override;
    [[nodiscard]] Result<void> try_writing() override;

private:
    SqliteStore(
        Connection connection,
        StoreStatements statements,
        std::int64_t id,
        DestinationLock lock,
        const Destination& destination,
        std::shared_ptr<Clock> clock
    );

    Connection connection_;
    StoreStatements statements_;
    const std::int64_t id_;
    DestinationLock lock_;
    const Destination destination_;
    const std::shared_ptr<Clock> clock_;
    const std::string topics_;  // as the database should have them
    TopicFilter filter_;

    Passed passed_;
    ParkedShare parked_share_;
};

}  // namespace outrider::sqlite
