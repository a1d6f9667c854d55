#include <gtest/gtest.h>

#include "core/hash.h"
#include "postgres/log.h"
#include "stores/postgres/connection.h"

// Whatever the server answers, the store says what helps, and nothing is lost by it.

namespace outrider {
namespace {

struct Case {
    std::string sqlstate;
    Remedy remedy;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> cases = {
        {"08006", Remedy::wait},     // connection failure
        {"22003", Remedy::correct},  // number out of range
        {"22P02", Remedy::correct},  // not a value of that type
        {"23505", Remedy::yield},    // somebody else wrote that turn
        {"23514", Remedy::correct},  // check violation
        {"25006", Remedy::wait},     // read only
        {"28000", Remedy::correct},  // not let in
        {"3D000", Remedy::correct},  // no such database
        {"40001", Remedy::yield},    // serialization failure
        {"40P01", Remedy::yield},    // deadlock
        {"42501", Remedy::correct},  // not permitted
        {"42703", Remedy::correct},  // no such column
        {"42P01", Remedy::correct},  // no such table
        {"53100", Remedy::wait},     // disk full
        {"53200", Remedy::wait},     // out of memory
        {"53300", Remedy::wait},     // too many connections
        {"55P03", Remedy::wait},     // lock not available
        {"57014", Remedy::wait},     // cancelled
        {"57P01", Remedy::wait},     // shut down by the administrator
        {"57P03", Remedy::wait},     // still starting
        {"58030", Remedy::call},     // the disk cannot be read
        {"XX000", Remedy::call},     // internal error
        {"XX001", Remedy::call},     // corrupted
    };
    return cases;
}

class PostgresErrors : public ::testing::Test {
protected:
    void fail_at(const std::string& table, const std::string& sqlstate) const {
        session.run(
            "create or replace function public.fail() returns trigger language plpgsql as "
            "'begin raise exception ''on purpose'' using errcode = ''" +
            sqlstate + "''; end'"
        );
        session.run(
            "create trigger fail before insert on outrider." + table +
            " for each statement execute function public.fail()"
        );
    }
    void mend(const std::string& table) const {
        session.run("drop trigger fail on outrider." + table);
    }

    // What the store says to a settlement.
    static Error settle_error(Store& store, Fate fate) {
        Result<Batch> batch = store.claim({100, 1U << 20U});
        if (!batch || batch->envelopes.size() != 1) throw std::runtime_error("nothing was claimed");
        Settlement settlement;
        settlement.fate = fate;
        settlement.park_key = own_order_key(batch->envelopes[0].seq);
        const std::vector<Settlement> settlements(1, settlement);
        const Result<void> settled = store.settle(std::move(batch).value(), settlements);
        if (settled) throw std::runtime_error("it was settled");
        return settled.error();
    }

    PostgresLog log{1};
    PostgresSession session{log.conninfo};
};

TEST_F(PostgresErrors, ARowThatIsRefusedIsNotRepeatedInTheText) {
    const auto connection = postgres::Connection::open(log.conninfo);
    ASSERT_TRUE(connection);
    const Result<postgres::Rows> refused = connection->run(
        "insert into outrider.message (topic, key, payload) values (null, 'ada', 'a secret')"
    );
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("violates not-null"), std::string::npos);
    EXPECT_EQ(refused.error().text.find("Failing row"), std::string::npos) << refused.error().text;
    EXPECT_EQ(refused.error().text.find("ada"), std::string::npos) << refused.error().text;
}

TEST_F(PostgresErrors, EveryCodeAsksForItsRemedyAndLosesNothing) {
    const auto store = log.open(everything());
    for (const auto& [sqlstate, remedy] : cases()) {
        insert(session, "k", sqlstate);
        fail_at("progress", sqlstate);
        const Error error = settle_error(*store, Fate::done);
        EXPECT_EQ(error.remedy, remedy) << sqlstate << ": " << error.text;
        EXPECT_NE(error.text.find("on purpose"), std::string::npos) << error.text;
        mend("progress");
        EXPECT_EQ(take_all(*store), std::vector<std::string>{sqlstate});
    }
}

TEST_F(PostgresErrors, ADeadLetterThatCannotBeWrittenIsNotPassed) {
    const auto store = log.open(everything());
    for (const auto& [sqlstate, remedy] : cases()) {
        insert(session, "k", sqlstate);
        fail_at("dead", sqlstate);
        EXPECT_EQ(settle_error(*store, Fate::dead).remedy, remedy) << sqlstate;
        mend("dead");
        EXPECT_EQ(take_all(*store), std::vector<std::string>{sqlstate});
    }
    EXPECT_EQ(session.value("select count(*) from outrider.dead"), "0");
}

}  // namespace
}  // namespace outrider
