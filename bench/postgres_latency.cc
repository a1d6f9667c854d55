// The time from commit to delivery, measured where both ends are seen: writers and an embedded
// relay in one process, against a server that is given.
//
//     postgres_latency CONNINFO RATE SECONDS
//
// What is written in a first second before these is delivered, but not measured: sessions begin,
// and a relay that slept is woken.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <libpq-fe.h>

#include "outrider/brokers.h"
#include "outrider/postgres_store.h"
#include "outrider/relay.h"

namespace {

using Steady = std::chrono::steady_clock;

constexpr int kWriters = 16;

// Two moments of each message, by its number.
struct Times {
    explicit Times(std::size_t count) : sent(count), committed(count), delivered(count) {}
    std::vector<std::atomic<std::int64_t>> sent;       // COMMIT was sent
    std::vector<std::atomic<std::int64_t>> committed;  // and answered
    std::vector<std::atomic<std::int64_t>> delivered;
};

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(Steady::now().time_since_epoch())
        .count();
}

void check(PGconn* connection, PGresult* result) {
    const bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (good) return;
    std::fprintf(stderr, "%s", PQerrorMessage(connection));
    std::exit(1);
}

// Statements by these names are prepared, as a driver would do.
constexpr std::array<std::array<const char*, 2>, 4> kStatements = {{
    {"begin", "begin"},
    {"order", "insert into orders (customer, amount) values ('ada', 42)"},
    {"message",
     "insert into outrider.message (topic, key, payload) values ('orders.placed', $1, $2)"},
    {"commit", "commit"},
}};

void run(PGconn* connection, const char* name, const std::vector<std::string>& parameters = {}) {
    std::vector<const char*> values;
    for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
    const int count = static_cast<int>(values.size());
    check(connection, PQexecPrepared(connection, name, count, values.data(), nullptr, nullptr, 0));
}

void write_all(const char* conninfo, Times& times, std::size_t first, Steady::duration pause) {
    PGconn* connection = PQconnectdb(conninfo);
    for (const auto& [name, sql] : kStatements) {
        check(connection, PQprepare(connection, name, sql, 0, nullptr));
    }
    const std::string filler(200, 'x');
    // Not all at the same moment.
    Steady::time_point next = Steady::now() + pause * first / kWriters;
    for (std::size_t i = first; i < times.sent.size(); i += kWriters) {
        std::this_thread::sleep_until(next);
        next = std::max(next + pause, Steady::now() - std::chrono::seconds(1));
        const std::string key = std::to_string(i % 1000);
        run(connection, "begin");
        run(connection, "order");
        run(connection, "message", {key, std::to_string(i) + " " + filler});
        times.sent[i] = now();
        run(connection, "commit");
        times.committed[i] = now();
    }
    PQfinish(connection);
}

void print(const char* name, std::vector<std::int64_t> micros) {
    std::sort(micros.begin(), micros.end());
    const auto at = [&](double part) {
        const auto place = static_cast<std::size_t>(part * static_cast<double>(micros.size() - 1));
        return static_cast<double>(micros[place]) / 1000;
    };
    std::printf("%s: p50 %.2f ms, p99 %.2f ms, most %.2f ms\n", name, at(0.5), at(0.99), at(1));
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: postgres_latency CONNINFO RATE SECONDS\n");
        return 2;
    }
    const auto rate = static_cast<std::size_t>(std::max(1, std::atoi(words[2])));
    Times times(rate * static_cast<std::size_t>(std::max(1, std::atoi(words[3])) + 1));
    std::atomic<std::size_t> arrived = 0;

    outrider::postgres::Options options;
    options.conninfo = words[1];
    outrider::Relay relay(outrider::postgres::open_store(options));
    outrider::Destination destination;
    destination.name = "all";
    relay.add(destination, outrider::handler_broker([&](const outrider::Delivery& delivery) {
                  times.delivered[static_cast<std::size_t>(std::atoll(delivery.payload.data()))] =
                      now();
                  ++arrived;
              }));
    relay.start();

    const Steady::duration pause = std::chrono::nanoseconds(1'000'000'000LL * kWriters) / rate;
    const Steady::time_point start = Steady::now();
    std::vector<std::jthread> writers;
    for (std::size_t i = 0; i < kWriters; ++i) {
        writers.emplace_back([&, i] { write_all(words[1], times, i, pause); });
    }
    writers.clear();  // joins
    const std::chrono::duration<double> took = Steady::now() - start;
    while (arrived < times.sent.size()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    relay.stop();

    std::vector<std::int64_t> from_sent;
    std::vector<std::int64_t> from_committed;
    for (std::size_t i = rate; i < times.sent.size(); ++i) {
        from_sent.push_back(times.delivered[i] - times.sent[i]);
        // The relay may see a commit before the writer has heard of it.
        from_committed.push_back(std::max<std::int64_t>(times.delivered[i] - times.committed[i], 0)
        );
    }
    std::printf(
        "%zu messages at %.0f/s\n", arrived.load(), static_cast<double>(arrived) / took.count()
    );
    print("from COMMIT sent to delivery", from_sent);
    print("from COMMIT answered to delivery", from_committed);
    return 0;
}
