// The three styles on SOCI over SQLite. SOCI's header comes first: see soci_sqlite.h.

#include "outrider/soci_sqlite.h"

#include <memory>

#include <gtest/gtest.h>

#include "app/sqlite_side.h"
#include "app/unit_suite.h"

namespace outrider {
namespace {

class SociSqliteClient : public SqliteSide {
public:
    SociSqliteClient() : session_(soci::sqlite3, "db=" + path() + " timeout=0") {}

    auto begin() { return outrider::begin(session_); }

    template <class Work>
    auto transactional(const Work& work, const Repeat& repeat = {}) {
        return outrider::transactional(session_, work, reading(repeat));
    }

    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        *tx << text;
    }

    void explicitly(const Message& message, bool commits) {
        soci::transaction transaction(session_);
        session_ << "insert into orders values (1, 0)";
        enqueue(session_, message);
        if (commits) transaction.commit();
    }
    void alone(const Message& message) { enqueue(session_, message); }
    void behind_its_back(const std::string& text) { session_ << text; }

private:
    soci::session session_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(SociSqlite, UnitSuite, SociSqliteClient);

// Whatever is finalized on the way out makes the connection forget what went wrong.
TEST(SociSqlite, AWriteBehindAnOpenSelectIsRunAgain) {
    SociSqliteClient client;
    client.behind_its_back("create table orders (id integer, n integer)");
    client.behind_its_back("insert into orders values (1, 0), (2, 0)");
    int runs = 0;
    client.transactional([&](auto& tx) {
        const soci::rowset<int> rows = (tx->prepare << "select n from orders");
        EXPECT_NE(rows.begin(), rows.end());
        if (++runs == 1) client.other("update orders set n = n + 10");
        *tx << "update orders set n = n + 1";
    });
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(client.other("select sum(n) from orders"), "22");
}

TEST(SociSqlite, RefusesASessionThatIsNotConnected) {
    soci::session session;
    EXPECT_SAYS(app_failure([&] { enqueue(session, app_message("a")); }), "not connected");
}

}  // namespace
}  // namespace outrider
