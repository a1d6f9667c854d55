#pragma once

#include <array>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "outrider/postgres_enqueue.h"

#include "core/dice.h"
#include "support/postgres_server.h"

namespace outrider::storm {

inline constexpr std::uint64_t kKeys = 24;

// Each key has one topic, so that its counter is the order of a topic and key.
inline std::string topic_of(std::uint64_t key) {
    constexpr std::array kTopics = {"orders.placed", "orders.paid", "mail.sent", "other"};
    return kTopics[key % kTopics.size()];
}

inline void nap(SeededDice& dice, std::uint64_t millis_max) {
    std::this_thread::sleep_for(std::chrono::milliseconds(dice.pick(millis_max)));
}

inline bool may_try_again(std::string_view text) {
    return text.find("could not serialize") != std::string_view::npos ||
           text.find("deadlock") != std::string_view::npos;
}

// What the writers of a storm have had so far.
struct Had {
    std::atomic<int> again = 0;      // transactions that had to be tried again
    std::atomic<int> two_phase = 0;  // of those that were committed
    std::atomic<int> copied = 0;
};

// One writer: transactions with early ids, savepoints, rollbacks, several keys; some serializable,
// some in two phases, some by COPY.
class Writer {
public:
    Writer(const std::string& conninfo, std::uint64_t number, Had& had)
        : session_(conninfo),
          number_(number),
          had_(had),
          dice_(number + 1) {}

    void run(const std::atomic<bool>& writing) {
        while (writing) {
            try {
                transaction();
            } catch (const std::exception& exception) {
                if (!may_try_again(exception.what())) throw;
                session_.run("rollback");
                ++had_.again;
            }
        }
    }

private:
    void transaction() {
        const bool serializable = dice_.chance(0.15);
        session_.run(serializable ? "begin isolation level serializable" : "begin");
        const bool in_two_phases = dice_.chance(0.1);
        if (in_two_phases) session_.run("set local outrider.bell = off");
        if (dice_.chance(0.5)) session_.run("select pg_current_xact_id()");
        if (dice_.chance(0.3)) nap(dice_, 20);
        std::set<std::uint64_t> keys;  // in order, so that nobody locks the other out
        for (std::uint64_t i = 0; i <= dice_.pick(4); ++i) keys.insert(dice_.pick(kKeys));
        for (const std::uint64_t key : keys) write_key(key);
        if (dice_.chance(0.02)) nap(dice_, 400);
        end(in_two_phases, dice_.chance(0.15) ? "rollback" : "commit");
    }

    void end(bool in_two_phases, const std::string& how) {
        if (!in_two_phases) return session_.run(how);
        const std::string name =
            "'w" + std::to_string(number_) + "-" + std::to_string(++prepared_) + "'";
        session_.run("prepare transaction " + name);
        nap(dice_, 20);
        session_.run(how + " prepared " + name);
        if (how == "commit") ++had_.two_phase;
    }

    // The row lock of what the key stands for, then its messages.
    void write_key(std::uint64_t key) {
        const bool savepoint = dice_.chance(0.2);
        if (savepoint) session_.run("savepoint s");
        const std::uint64_t count = dice_.chance(0.1) ? 20 : 1;
        const std::string name = std::to_string(key);
        const auto last = std::stoull(session_.value(
            "update counter set n = n + " + std::to_string(count) + " where key = " + name +
            " returning n"
        ));
        std::vector<Message> messages;
        for (std::uint64_t position = last - count + 1; position <= last; ++position) {
            Message message;
            message.topic = topic_of(key);
            message.key = name;
            message.payload = name + ":" + std::to_string(position);
            messages.push_back(std::move(message));
        }
        write(messages);
        if (savepoint && dice_.chance(0.5)) session_.run("rollback to s");
    }

    void write(const std::vector<Message>& messages) {
        for (const Message& m : messages)
            session_.run("insert into truth values ('" + m.topic + "', '" + m.payload + "')");
        if (messages.size() > 1) {
            postgres::copy(session_.get(), messages);
            return void(++had_.copied);
        }
        const Message& m = messages.front();
        const std::string values =
            "('" + m.topic + "', '" + m.key + "', '" + m.payload + "'::bytea)";
        switch (dice_.pick(3)) {
            case 0:
                return session_.run(
                    "insert into outrider.message (topic, key, payload) values " + values
                );
            case 1:
                return session_.run(
                    "select outrider.enqueue('" + m.topic + "', key => '" + m.key +
                    "', payload => '" + m.payload + "'::bytea)"
                );
            default:
                postgres::enqueue(session_.get(), m);
        }
    }

    PostgresSession session_;
    const std::uint64_t number_;
    Had& had_;
    SeededDice dice_;
    int prepared_ = 0;
};

}  // namespace outrider::storm
