#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "outrider/inbox.h"

#include "core/store_admin.h"

namespace outrider {

using Effect = std::function<void()>;

// One connection of a consumer to its database. Throws on every error of its SQL.
class InboxSession {
public:
    virtual ~InboxSession() = default;

    virtual void run(const std::string& sql) = 0;
    virtual std::string value(const std::string& sql) = 0;

    virtual void begin() = 0;
    void commit() { run("commit"); }
    void roll_back() { run("rollback"); }

    virtual Receipt once(
        const std::string& consumer,
        const Arrival& arrival,
        const Effect& effect,
        const InboxOptions& options
    ) = 0;
    virtual void enqueue(const Message& message) = 0;
    virtual std::uint64_t clean_up(std::size_t limit) = 0;

    // The documented statement for other languages. True: new.
    virtual bool claim_in_sql(const std::string& consumer, const MessageId& id) = 0;
};

// A fresh database with our tables, a table effect(id text) and the names of things in it.
class InboxHarness {
public:
    virtual ~InboxHarness() = default;
    [[nodiscard]] virtual std::unique_ptr<InboxSession> connect() = 0;
    [[nodiscard]] virtual std::unique_ptr<StoreAdmin> admin() = 0;

    std::string records;   // the table of records
    std::string messages;  // the log
    std::string past;      // a moment long ago, as SQL
};

struct InboxParameter {
    std::string name;
    std::function<std::unique_ptr<InboxHarness>()> make;
};

inline void PrintTo(const InboxParameter& parameter, std::ostream* out) {
    *out << parameter.name;
}

// The definition of an inbox: every test below runs over every database.
class InboxSuite : public ::testing::TestWithParam<InboxParameter> {
protected:
    InboxSuite() : harness_(GetParam().make()), session_(harness_->connect()) {}

    // Writes a row, as the effect of a message.
    static Effect effect_of(InboxSession& session, const MessageId& id) {
        return [&session, id] {
            session.run("insert into effect (id) values ('" + id.to_string() + "')");
        };
    }

    // A whole transaction that takes the message once.
    Receipt take(const Arrival& arrival, const std::string& consumer = "billing") {
        return take(*session_, arrival, consumer);
    }
    static Receipt take(
        InboxSession& session,
        const Arrival& arrival,
        const std::string& consumer,
        const InboxOptions& options = {}
    ) {
        session.begin();
        const Receipt receipt =
            session.once(consumer, arrival, effect_of(session, arrival.id), options);
        session.commit();
        return receipt;
    }

    [[nodiscard]] int count(const std::string& table) {
        return std::stoi(session_->value("select count(*) from " + table));
    }

    std::unique_ptr<InboxHarness> harness_;
    std::unique_ptr<InboxSession> session_;
};

}  // namespace outrider
