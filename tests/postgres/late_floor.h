#pragma once

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "postgres/short_cut.h"

// What tests of late messages are made of: writers that number the messages of each key, a reader
// that goes on while a claim says so, and what must hold in the end.

namespace outrider::late {

using short_cut::Payloads;
using Clock = std::chrono::steady_clock;

struct Taken {
    Payloads payloads;
    int empty = 0;  // claims without a message that were not the last
};

// Claims until one says that nothing is left.
inline Taken drain(Store& store, std::size_t messages) {
    Taken taken;
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    for (int quiet = 0; quiet < 3;) {
        if (Clock::now() > deadline) throw std::runtime_error("it never ends");
        Result<Batch> batch = store.claim({messages, 1U << 20U});
        if (!batch) throw std::runtime_error(batch.error().text);
        for (const Envelope& e : batch->envelopes) taken.payloads.emplace_back(e.payload);
        if (batch->full && batch->envelopes.empty()) ++taken.empty;
        quiet = batch->full || !batch->envelopes.empty() ? 0 : quiet + 1;
        if (!batch->hold) continue;
        Settlement done;
        done.fate = Fate::done;
        const std::vector<Settlement> settlements(batch->envelopes.size(), done);
        const Result<void> settled = store.settle(std::move(batch).value(), settlements);
        if (!settled) throw std::runtime_error(settled.error().text);
    }
    return taken;
}

inline void add(Payloads& all, const Payloads& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// Messages in transactions of 100, some for each of 16 keys. A payload is its key and its place
// there.
class Bulk {
public:
    explicit Bulk(std::string name = "bulk") : name_(std::move(name)) {}

    void write(const PostgresSession& session, int messages) {
        for (int left = messages; left > 0; left -= 100) {
            session.run(
                "insert into outrider.message (topic, key, payload) select 't', '" + name_ +
                "' || i % 16, convert_to('" + name_ + "' || i % 16 || ' ' || i, 'UTF8') from " +
                "generate_series(" + std::to_string(next_) + ", " +
                std::to_string(next_ + std::min(left, 100) - 1) + ") i"
            );
            next_ += std::min(left, 100);
        }
    }

private:
    std::string name_;
    int next_ = 1;
};

// One message of a key in the transaction that is open.
inline void write(const PostgresSession& session, const std::string& key, int place) {
    insert(session, key, key + " " + std::to_string(place));
}

// No key goes backwards.
inline void expect_order(const Payloads& payloads) {
    std::map<std::string, int> last;
    for (const std::string& payload : payloads) {
        const std::size_t space = payload.find(' ');
        int& before = last[payload.substr(0, space)];
        const int place = std::stoi(payload.substr(space + 1));
        EXPECT_GT(place, before) << payload;
        before = place;
    }
}

// Whatever stands in the log, once, and nothing else.
inline void expect_all(const PostgresSession& session, Payloads delivered) {
    expect_order(delivered);
    Payloads truth = session.column("select convert_from(payload, 'UTF8') from outrider.message");
    std::sort(truth.begin(), truth.end());
    std::sort(delivered.begin(), delivered.end());
    EXPECT_EQ(truth.size(), delivered.size());
    EXPECT_TRUE(truth == delivered) << "lost, invented or twice";
}

// What every cursor that there ever was says of where messages lie, against where they do.
inline void expect_floors(const PostgresSession& session) {
    EXPECT_EQ(
        session.value("select count(*) from outrider.progress c "
                      "cross join lateral rows from (pg_snapshot_xip(c.p), unnest(c.late)) "
                      "as i(id, floor) join outrider.message m on m.xid = i.id "
                      "where m.seq <= i.floor"),
        "0"
    ) << "a message below the floor of its transaction";
    EXPECT_EQ(
        session.value("select count(*) from outrider.progress c join outrider.message m "
                      "on m.seq <= c.f and m.xid >= pg_snapshot_xmax(c.p) "
                      "or m.seq <= c.sf and m.xid >= pg_snapshot_xmax(c.s)"),
        "0"
    ) << "a message of later below a window's floor";
    EXPECT_EQ(
        session.value("select count(*) from outrider.progress c join outrider.message m "
                      "on m.seq <= c.nf and m.xid::text::numeric >= c.nf_by "
                      "or m.seq <= c.sf and m.xid::text::numeric >= c.sf_by"),
        "0"
    ) << "a message of whoever came after a floor below it";
    EXPECT_EQ(
        session.value("select count(*) from outrider.progress c where cardinality(late) > "
                      "(select count(*) from pg_snapshot_xip(c.p))"),
        "0"
    );
}

// The places at which the lanes of the only destination stand.
inline int groups(const PostgresSession& session) {
    return std::stoi(session.value(
        "select count(distinct (p::text, f, s::text, sf, u, last, nf, late)) from outrider.cursor"
    ));
}

inline std::uint64_t pending(const PostgresLog& log) {
    const Result<Backlog> backlog = log.admin()->backlog({});
    if (!backlog) throw std::runtime_error(backlog.error().text);
    return backlog->destinations.at(0).pending;
}

// Claims and leaves the messages of one lane unanswered, as if the broker were silent there.
inline Payloads take_but_leave(Store& store, std::uint32_t lane, std::size_t messages) {
    Result<Batch> batch = store.claim({messages, 1U << 20U});
    if (!batch) throw std::runtime_error(batch.error().text);
    Payloads payloads;
    if (!batch->hold) return payloads;
    std::vector<Settlement> settlements(batch->envelopes.size());
    for (std::size_t i = 0; i < settlements.size(); ++i) {
        const Envelope& envelope = batch->envelopes[i];
        if (envelope.lane == lane) continue;
        settlements[i].fate = Fate::done;
        payloads.emplace_back(envelope.payload);
    }
    const Result<void> settled = store.settle(std::move(batch).value(), settlements);
    if (!settled) throw std::runtime_error(settled.error().text);
    return payloads;
}

inline std::uint64_t clean_up(const PostgresLog& log, const PostgresSession& session) {
    short_cut::age_segments(session);
    const Result<std::uint64_t> emptied = log.admin()->clean_up(Duration::zero(), 1000);
    if (!emptied) throw std::runtime_error(emptied.error().text);
    return *emptied;
}

}  // namespace outrider::late
