#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/store.h"
#include "core/store_admin.h"
#include "stores/postgres/driver.h"
#include "support/postgres_server.h"

namespace outrider {

// A migrated log in a fresh database.
class PostgresLog {
public:
    explicit PostgresLog(std::size_t lanes = 4, PostgresServer& server = PostgresServer::shared())
        : conninfo(server.create_database()) {
        options.conninfo = conninfo;
        options.lanes = lanes;
        const auto migrated = admin()->migrate();
        if (!migrated) throw std::runtime_error(migrated.error().text);
    }

    // The same log, reached otherwise: by another user, through a pooler.
    PostgresLog(const PostgresLog& log, std::string conninfo_)
        : conninfo(std::move(conninfo_)),
          options(log.options) {
        options.conninfo = conninfo;
    }

    [[nodiscard]] std::shared_ptr<StoreDriver> driver() const {
        return postgres::make_driver(options);
    }

    [[nodiscard]] std::unique_ptr<StoreAdmin> admin() const {
        auto opened = driver()->open_admin(StoreDriver::IfMissing::fail);
        if (!opened) throw std::runtime_error(opened.error().text);
        return std::move(opened).value();
    }

    [[nodiscard]] std::unique_ptr<Store> open(const Destination& destination) const {
        auto opened = driver()->open(destination);
        if (!opened) throw std::runtime_error(opened.error().text);
        return std::move(opened).value();
    }

    const std::string conninfo;
    postgres::StoreOptions options;
};

inline Destination everything(std::string name = "all") {
    Destination destination;
    destination.name = std::move(name);
    return destination;
}

inline Message message(std::string payload) {
    Message message;
    message.topic = "t";
    message.key = "k";
    message.payload = std::move(payload);
    return message;
}

// What a call throws; empty if nothing.
inline std::string failure_text(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::exception& exception) {
        return exception.what();
    }
    return "";
}

// As an application would write, in a transaction of its own or the one that is open.
inline void insert(
    const PostgresSession& session,
    const std::string& key,
    const std::string& payload
) {
    session.run(
        "insert into outrider.message (topic, key, payload) values ('t', '" + key + "', '" +
        payload + "')"
    );
}

// Claims once and settles everything as done. Payloads in the order claimed.
inline std::vector<std::string> take(Store& store, std::size_t messages = 100) {
    Result<Batch> batch = store.claim({messages, 1U << 20U});
    if (!batch) throw std::runtime_error(batch.error().text);
    std::vector<std::string> payloads;
    for (const Envelope& envelope : batch->envelopes) payloads.emplace_back(envelope.payload);
    if (!batch->hold) return payloads;
    Settlement done;
    done.fate = Fate::done;
    const std::vector<Settlement> settlements(batch->envelopes.size(), done);
    const Result<void> settled = store.settle(std::move(batch).value(), settlements);
    if (!settled) throw std::runtime_error(settled.error().text);
    return payloads;
}

// Claims until a look finds nothing at all.
inline std::vector<std::string> take_all(Store& store, std::size_t messages = 100) {
    std::vector<std::string> all;
    for (int quiet = 0; quiet < 3;) {
        const std::vector<std::string> some = take(store, messages);
        quiet = some.empty() ? quiet + 1 : 0;
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace outrider
