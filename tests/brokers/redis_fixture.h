#pragma once

#include <map>
#include <string>
#include <vector>

#include "outrider/testing.h"

#include "brokers/support/redis_server.h"

namespace outrider::live {

// One server for all tests of the binary.
inline RedisServer& redis_server() {
    static RedisServer server;
    return server;
}

struct Entry {
    std::vector<std::pair<std::string, std::string>> fields;

    [[nodiscard]] std::string field(const std::string& name) const {
        for (const auto& [key, value] : fields) {
            if (key == name) return value;
        }
        return "(none)";
    }
};

// What a client of its own reads from one stream.
inline std::vector<Entry> read_stream(
    const std::string& stream,
    const RedisServer& server = redis_server()
) {
    RedisClient client(server.port());
    const auto reply = client.ask({"XRANGE", stream, "-", "+"});
    std::vector<Entry> entries;
    for (std::size_t i = 0; reply && i < reply->elements; ++i) {
        const redisReply& fields = *reply->element[i]->element[1];
        Entry& entry = entries.emplace_back();
        for (std::size_t f = 0; f + 1 < fields.elements; f += 2) {
            entry.fields.emplace_back(
                std::string(fields.element[f]->str, fields.element[f]->len),
                std::string(fields.element[f + 1]->str, fields.element[f + 1]->len)
            );
        }
    }
    return entries;
}

inline testing::Received to_received(const Entry& entry) {
    testing::Received message;
    const std::map<std::string, std::string*> ours = {
        {"outrider-topic", &message.topic},
        {"outrider-key", &message.key},
        {"outrider-type", &message.type},
        {"content-type", &message.content_type},
        {"payload", &message.payload}};
    for (const auto& [name, value] : entry.fields) {
        if (name == "outrider-id") {
            message.id = *MessageId::parse(value);
        } else if (ours.contains(name)) {
            *ours.at(name) = value;
        } else if (name == "outrider-occurred-at") {
            EXPECT_EQ(value, "2023-11-14T22:13:20.123Z");
        } else {
            message.headers.push_back({name, value});
        }
    }
    return message;
}

// All streams, one behind the other.
inline std::vector<testing::Received> read_streams(const RedisServer& server = redis_server()) {
    RedisClient client(server.port());
    const auto names = client.ask({"KEYS", "*"});
    std::vector<testing::Received> received;
    for (std::size_t i = 0; names && i < names->elements; ++i) {
        for (const Entry& entry :
             read_stream(std::string(names->element[i]->str, names->element[i]->len), server)) {
            received.push_back(to_received(entry));
        }
    }
    return received;
}

}  // namespace outrider::live
