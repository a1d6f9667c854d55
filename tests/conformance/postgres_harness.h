#pragma once

#include "outrider/postgres.h"

#include "conformance/store_suite.h"
#include "core/clock.h"
#include "stores/postgres/driver.h"
#include "support/postgres_server.h"

namespace outrider {

// One database for all tests, since making one takes longer than most of them; each makes the log
// anew.
class PostgresHarness : public StoreHarness {
public:
    // `way`: more of the conninfo, for relays and writers alike.
    explicit PostgresHarness(int lanes, const std::string& way = {})
        : conninfo_(shared_database() + way),
          session_(conninfo_) {
        session_.run("drop schema if exists outrider cascade");
        session_.run("drop table if exists public.test_clock");
        options_.conninfo = conninfo_;
        options_.lanes = lanes;
        options_.now = "(select at from public.test_clock)";
        session_.run("create table public.test_clock as select now() as at");
        set_clock(clock->wall());
        clock->on_change = [this](WallTime time) { set_clock(time); };
        const auto admin = driver()->open_admin(StoreDriver::IfMissing::fail);
        const auto migrated = (*admin)->migrate();
        if (!migrated) throw std::runtime_error(migrated.error().text);
    }

    std::shared_ptr<StoreDriver> driver() override { return postgres::make_driver(options_); }
    void commit(const std::vector<Message>& messages) override { write(messages, "commit"); }
    void roll_back(const std::vector<Message>& messages) override { write(messages, "rollback"); }
    std::size_t kept() override {
        return std::stoul(session_.value("select count(*) from outrider.message"));
    }

private:
    static const std::string& shared_database() {
        static const std::string database = PostgresServer::shared().create_database();
        return database;
    }

    void set_clock(WallTime time) {
        session_.run("update public.test_clock set at = '" + to_iso_micros(time) + "'");
    }

    void write(std::vector<Message> messages, const char* end) {
        for (Message& message : messages) {
            if (!message.occurred_at) message.occurred_at = clock->wall();
        }
        session_.run("begin");
        postgres::enqueue(session_.get(), messages);
        session_.run(end);
    }

    const std::string conninfo_;
    PostgresSession session_;
    postgres::StoreOptions options_;
};

}  // namespace outrider
