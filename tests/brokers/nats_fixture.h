#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "brokers/nats/broker.h"
#include "brokers/support/messages.h"
#include "brokers/support/nats_server.h"

namespace outrider::live {

// A server whose user `shop` may publish to shop.> and nothing else, and the login of who may.
inline constexpr const char* kGuarded =
    "authorization { users = ["
    " {user: admin, password: secret},"
    " {user: shop, password: secret, permissions: {publish: [\"shop.>\"],"
    " subscribe: [\"_INBOX.>\"]}} ] }";
inline constexpr const char* kAdmin = "admin:secret@";

// Every test finds a server with one empty stream.
class Nats : public ::testing::Test {
protected:
    Nats() {
        const NatsClient client(nats_server().url());
        client.delete_streams();
        client.add_stream("SHOP", "shop.>");
    }

    static std::unique_ptr<Broker> open(const std::string& url) {
        const Result<NatsOptions> options = parse_nats_url(url);
        EXPECT_TRUE(options) << options.error().text;
        return std::move(make_nats_broker(*options)->open()).value();
    }
    static std::unique_ptr<Broker> open_with(const std::string& parameters) {
        return open(nats_server().url() + "?target=shop.{topic}&" + parameters);
    }
    static std::unique_ptr<Broker> open_shop() { return open_with(""); }
    static std::vector<NatsClient::Message> read() {
        return NatsClient(nats_server().url()).read("SHOP");
    }
};

}  // namespace outrider::live
