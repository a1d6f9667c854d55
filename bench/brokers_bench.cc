// How fast the relay is beside the raw client libraries, on the same machine in the same run.
//
//     brokers_bench PATH-OF-OUTRIDER [--messages N] [--rounds N] [--only BROKER]
//
// For each broker: a server of its own; the same messages published raw, then relayed from SQLite
// and from PostgreSQL, in turn, and the medians as a ratio. Last the time from commit to consumer
// on Kafka.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>

#include <sqlite3.h>
#include <sys/resource.h>

#include "brokers/support/kafka_server.h"
#include "brokers/support/nats_server.h"
#include "brokers/support/rabbitmq_client.h"
#include "brokers/support/rabbitmq_server.h"
#include "brokers/support/redis_server.h"
#include "raw_publish.h"
#include "support/postgres_server.h"

namespace outrider::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
    std::string binary;
    std::size_t messages = 0;  // 0: as many as the broker takes in some seconds
    int rounds = 3;
    std::string only;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Seconds of processor that this process, or the children it has waited for, have used so far.
double processor_seconds(int who) {
    rusage usage{};
    ::getrusage(who, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What one way of publishing reached: messages per second, and microseconds of its own processor
// time per message, which say more on a busy machine.
struct Pace {
    double rate = 0;
    double micros = 0;
};

Pace median(const std::vector<Pace>& paces) {
    std::vector<double> rates;
    std::vector<double> micros;
    for (const Pace& pace : paces) {
        rates.push_back(pace.rate);
        micros.push_back(pace.micros);
    }
    return {median(rates), median(micros)};
}

// A store with a relay's configuration beside it.
class Source {
public:
    virtual ~Source() = default;
    [[nodiscard]] virtual std::string url() const = 0;
    virtual void run(const std::string& sql) = 0;
    [[nodiscard]] virtual std::string insert(std::size_t count) const = 0;
};

class Sqlite final : public Source {
public:
    [[nodiscard]] std::string url() const override { return "sqlite://" + folder_.file("db"); }
    void run(const std::string& sql) override {
        if (database_ == nullptr) sqlite3_open(folder_.file("db").c_str(), &database_);
        sqlite3_busy_timeout(database_, 60'000);
        char* error = nullptr;
        if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &error) != SQLITE_OK) {
            throw std::runtime_error(error == nullptr ? "SQLite" : error);
        }
    }
    [[nodiscard]] std::string insert(std::size_t count) const override {
        return "with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < " +
               std::to_string(count) +
               ") insert into outrider_message(topic, key, type, content_type, payload) select "
               "'bench', 'k' || (i % 1000), 'bench.made', 'application/json', '" +
               std::string(200, 'x') + "' from n";
    }
    ~Sqlite() override { sqlite3_close(database_); }

private:
    TempFolder folder_;
    sqlite3* database_ = nullptr;
};

class Postgres final : public Source {
public:
    Postgres() : database_(PostgresServer::shared().create_database()), session_(database_) {}

    [[nodiscard]] std::string url() const override {
        std::string url = "postgres://?";
        std::string text = database_;
        std::replace(text.begin(), text.end(), ' ', '&');
        return url + text;
    }
    void run(const std::string& sql) override { session_.run(sql); }
    [[nodiscard]] std::string insert(std::size_t count) const override {
        return "insert into outrider.message (topic, key, type, content_type, payload) select "
               "'bench', 'k' || (i % 1000), 'bench.made', 'application/json', "
               "convert_to(repeat('x', 200), 'UTF8') from generate_series(0, " +
               std::to_string(count - 1) + ") i";
    }

private:
    std::string database_;
    PostgresSession session_;
};

// The relay between a store and a broker.
class Relay {
public:
    Relay(
        const Arguments& arguments,
        std::unique_ptr<Source> source,
        const std::string& broker,
        int workers = 1
    )
        : binary_(arguments.binary),
          source_(std::move(source)) {
        std::ofstream(folder_.file("outrider.toml"))
            << "[store]\nurl = \"" << source_->url() << "\"\n[[destination]]\nname = \"bench\"\n"
            << "topics = [\"bench\"]\nworkers = " << workers << "\nbroker = \"" << broker << "\"\n";
        call("migrate up");
    }

    // Messages per second of a drain. What starting and ending a relay takes, measured with nothing
    // to do, is not counted: the raw clients are connected, too, when their time begins.
    Pace drain(std::size_t count) {
        const double idle = time_drain();
        source_->run(source_->insert(count));
        const double used = processor_seconds(RUSAGE_CHILDREN);
        const double took = time_drain() - idle;
        const auto messages = static_cast<double>(count);
        return {messages / took, (processor_seconds(RUSAGE_CHILDREN) - used) * 1e6 / messages};
    }

    [[nodiscard]] live::Command command() const {
        return {
            {binary_, "relay", "--config", folder_.file("outrider.toml")}, {}, folder_.file("log")};
    }
    Source& source() { return *source_; }

private:
    double time_drain() {
        const Clock::time_point start = Clock::now();
        call("relay --drain --log-level error");
        return std::chrono::duration<double>(Clock::now() - start).count();
    }

    void call(const std::string& verb) {
        const std::string line = binary_ + " " + verb + " --config " +
                                 folder_.file("outrider.toml") + " >>" + folder_.file("log") +
                                 " 2>&1";
        if (std::system(line.c_str()) != 0) {
            std::ifstream log(folder_.file("log"));
            const std::string said(std::istreambuf_iterator<char>(log), {});
            throw std::runtime_error("failed: " + verb + ": " + said);
        }
    }

    TempFolder folder_;
    std::string binary_;
    std::unique_ptr<Source> source_;
};

struct Contender {
    std::string name;
    std::string url;
    std::function<double(const RawMessages&)> raw;
    double goal;
    std::size_t messages;
    int workers;                  // of the relay on PostgreSQL; on SQLite it is always one
    std::function<void()> empty;  // what was published before must not slow down what comes next
};

void compare(const Arguments& arguments, const Contender& broker) {
    if (!arguments.only.empty() && arguments.only != broker.name) return;
    Relay from_sqlite(arguments, std::make_unique<Sqlite>(), broker.url);
    Relay from_postgres(arguments, std::make_unique<Postgres>(), broker.url, broker.workers);
    const std::size_t count = arguments.messages == 0 ? broker.messages : arguments.messages;
    std::vector<Pace> raw;
    std::vector<Pace> sqlite;
    std::vector<Pace> postgres;
    const auto publish_raw = [&]() -> Pace {
        const RawMessages messages(count);
        const double used = processor_seconds(RUSAGE_SELF);
        const double rate = broker.raw(messages);
        const double micros = (processor_seconds(RUSAGE_SELF) - used) * 1e6;
        return {rate, micros / static_cast<double>(count)};
    };
    for (int round = 0; round < arguments.rounds; ++round) {
        broker.empty();
        raw.push_back(publish_raw());
        broker.empty();
        sqlite.push_back(from_sqlite.drain(count));
        broker.empty();
        postgres.push_back(from_postgres.drain(count));
    }
    const auto show = [&](const char* what, const Pace& pace) {
        const double part = pace.rate / median(raw).rate;
        std::printf("   %s %.0f/s %.2f (%.1f us)", what, pace.rate, part, pace.micros);
    };
    std::printf("%-9s", broker.name.c_str());
    show("raw", median(raw));
    show("SQLite", median(sqlite));
    show("PostgreSQL", median(postgres));
    std::printf("   goal %.2f, %zu messages, workers %d\n", broker.goal, count, broker.workers);
    std::fflush(stdout);
}

// A consumer that stands at the end of the topic and waits.
class Consumer {
public:
    explicit Consumer(const std::string& address) {
        std::array<char, 256> text{};
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", address.c_str(), text.data(), text.size());
        rd_kafka_conf_set(conf, "group.id", "bench", text.data(), text.size());
        handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text.data(), text.size());
        rd_kafka_poll_set_consumer(handle_);
        rd_kafka_topic_partition_list_t* all = rd_kafka_topic_partition_list_new(4);
        for (int i = 0; i < 4; ++i) {
            rd_kafka_topic_partition_list_add(all, "bench", i)->offset = RD_KAFKA_OFFSET_END;
        }
        rd_kafka_assign(handle_, all);
        rd_kafka_topic_partition_list_destroy(all);
    }
    ~Consumer() { rd_kafka_destroy(handle_); }
    Consumer(const Consumer&) = delete;
    Consumer& operator=(const Consumer&) = delete;

    // Whether a message came.
    [[nodiscard]] bool next(int millis) const {
        rd_kafka_message_t* message = rd_kafka_consumer_poll(handle_, millis);
        const bool came = message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (message != nullptr) rd_kafka_message_destroy(message);
        return came;
    }

private:
    rd_kafka_t* handle_ = nullptr;
};

// From the end of a commit to a consumer of Kafka, one message at a time, each when the one before
// has arrived.
void time_commits(Relay& relay, const Consumer& consumer, const char* store) {
    constexpr int kSamples = 300;
    const live::Process running(relay.command());
    const auto sample = [&](int patience) {
        relay.source().run(relay.source().insert(1));
        const Clock::time_point committed = Clock::now();
        for (int waited = 0; waited < patience && !consumer.next(1000); ++waited) {
        }
        return std::chrono::duration<double, std::milli>(Clock::now() - committed).count();
    };
    for (int i = 0; i < 20; ++i) static_cast<void>(sample(60));
    std::vector<double> times;
    for (int i = 0; i < kSamples; ++i) times.push_back(sample(60));
    std::sort(times.begin(), times.end());
    std::printf(
        "kafka     commit to consumer from %-10s p50 %.2f ms, p99 %.2f ms, goal p50 2 ms\n",
        store,
        times[kSamples / 2],
        times[kSamples * 99 / 100]
    );
    std::fflush(stdout);
}

void compare_kafka(const Arguments& arguments) {
    live::KafkaServer server{std::vector<std::string>()};
    live::KafkaAdmin(server.address()).create_topic("bench", 4);
    compare(
        arguments,
        {"kafka",
         server.url(),
         [&](const RawMessages& messages) { return publish_kafka(messages, server.address()); },
         0.55,
         1'000'000,
         2,
         [] {}}
    );
    const Consumer consumer(server.address());
    Relay from_sqlite(arguments, std::make_unique<Sqlite>(), server.url());
    time_commits(from_sqlite, consumer, "SQLite");
    Relay from_postgres(arguments, std::make_unique<Postgres>(), server.url());
    time_commits(from_postgres, consumer, "PostgreSQL");
}

void compare_nats(const Arguments& arguments) {
    live::NatsServer server;
    const auto empty = [&] {
        const live::NatsClient client(server.url());
        client.delete_streams();
        client.add_stream("BENCH", "bench");
    };
    const auto raw = [&](const RawMessages& m) { return publish_nats(m, server.url()); };
    compare(arguments, {"nats", server.url(), raw, 0.85, 400'000, 2, empty});
}

void compare_rabbitmq(const Arguments& arguments) {
    live::RabbitmqServer server;
    const auto empty = [&] {
        live::RabbitmqClient client(server.port());
        client.remove("bench");
        client.declare("bench");
    };
    const auto raw = [&](const RawMessages& m) { return publish_rabbitmq(m, server.port()); };
    compare(arguments, {"rabbitmq", server.url() + "?exchange=", raw, 0.95, 100'000, 1, empty});
}

void compare_redis(const Arguments& arguments) {
    // As Redis is delivered: on disk within a second.
    live::RedisServer server({"--appendfsync", "everysec"});
    const auto empty = [&] { live::RedisClient(server.port()).run({"FLUSHALL"}); };
    const auto raw = [&](const RawMessages& m) { return publish_redis(m, server.port()); };
    compare(arguments, {"redis", server.url(), raw, 0.75, 600'000, 2, empty});
}

Arguments read(int count, char** words) {
    Arguments arguments;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const bool has_value = i + 1 < count;
        if (word == "--messages" && has_value) {
            arguments.messages = std::stoul(words[++i]);
        } else if (word == "--rounds" && has_value) {
            arguments.rounds = std::stoi(words[++i]);
        } else if (word == "--only" && has_value) {
            arguments.only = words[++i];
        } else {
            arguments.binary = word;
        }
    }
    return arguments;
}

int run(int count, char** words) {
    const Arguments arguments = read(count, words);
    if (arguments.binary.empty()) {
        std::fprintf(
            stderr,
            "usage: brokers_bench PATH-OF-OUTRIDER [--messages N] [--rounds N] [--only BROKER]\n"
        );
        return 2;
    }
    const auto wanted = [&](const char* name) {
        return arguments.only.empty() || arguments.only == name;
    };
    std::printf("messages of 200 bytes, 1000 keys, medians of %d rounds\n", arguments.rounds);
    if (wanted("rabbitmq")) compare_rabbitmq(arguments);
    if (wanted("nats")) compare_nats(arguments);
    if (wanted("redis")) compare_redis(arguments);
    if (wanted("kafka")) compare_kafka(arguments);
    return 0;
}

}  // namespace
}  // namespace outrider::bench

int main(int count, char** words) {
    try {
        return outrider::bench::run(count, words);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "brokers_bench: %s\n", failure.what());
        return 1;
    }
}
