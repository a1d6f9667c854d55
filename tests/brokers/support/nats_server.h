#pragma once

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nats/nats.h>

#include "brokers/support/process.h"
#include "support/tcp.h"
#include "support/temp_folder.h"

namespace outrider::live {

// A client of NATS that is not ours: cnats as everybody uses it.
class NatsClient {
public:
    // `creds`: the file of a user; empty: none.
    explicit NatsClient(const std::string& url, const std::string& creds = {}) {
        natsOptions* options = nullptr;
        natsOptions_Create(&options);
        natsOptions_SetURL(options, url.c_str());
        natsOptions_SetTimeout(options, 10'000);
        natsOptions_SetAllowReconnect(options, false);
        natsOptions_SkipServerVerification(options, true);
        if (!creds.empty()) {
            natsOptions_SetUserCredentialsFromFiles(options, creds.c_str(), nullptr);
        }
        // Of the challenges that a server sends, this cnats signs about one in a hundred wrongly.
        const int tries_max = creds.empty() ? 1 : 5;
        for (int tries = 0; connection_ == nullptr && tries < tries_max; ++tries) {
            natsConnection_Connect(&connection_, options);
        }
        natsOptions_Destroy(options);
        if (connection_ != nullptr) natsConnection_JetStream(&context_, connection_, nullptr);
    }
    ~NatsClient() {
        jsCtx_Destroy(context_);
        natsConnection_Destroy(connection_);
    }
    NatsClient(const NatsClient&) = delete;
    NatsClient& operator=(const NatsClient&) = delete;

    [[nodiscard]] bool answers() const {
        return connection_ != nullptr && natsConnection_FlushTimeout(connection_, 1000) == NATS_OK;
    }
    [[nodiscard]] natsConnection* get() const { return connection_; }

    // A stream that takes the subject. `change` may adjust it.
    void add_stream(
        const std::string& name,
        const std::string& subject,
        const std::function<void(jsStreamConfig&)>& change = {}
    ) const {
        ASSERT_EQ(try_add_stream(name, subject, change), NATS_OK) << nats_GetLastError(nullptr);
    }
    [[nodiscard]] natsStatus try_add_stream(
        const std::string& name,
        const std::string& subject,
        const std::function<void(jsStreamConfig&)>& change
    ) const {
        jsStreamConfig config;
        jsStreamConfig_Init(&config);
        config.Name = name.c_str();
        const char* subjects[] = {subject.c_str()};
        config.Subjects = subjects;
        config.SubjectsLen = 1;
        if (change) change(config);
        return js_AddStream(nullptr, context_, &config, nullptr, nullptr);
    }

    // The server that leads a stream of a cluster.
    [[nodiscard]] std::string leader_of(const std::string& stream) const {
        jsStreamInfo* info = nullptr;
        js_GetStreamInfo(&info, context_, stream.c_str(), nullptr, nullptr);
        if (info == nullptr) return {};
        const bool has_one = info->Cluster != nullptr && info->Cluster->Leader != nullptr;
        std::string leader = has_one ? info->Cluster->Leader : "";
        jsStreamInfo_Destroy(info);
        return leader;
    }

    void delete_streams() const {
        jsStreamNamesList* names = nullptr;
        if (js_StreamNames(&names, context_, nullptr, nullptr) != NATS_OK) return;
        for (int i = 0; i < names->Count; ++i) {
            js_DeleteStream(context_, names->List[i], nullptr, nullptr);
        }
        jsStreamNamesList_Destroy(names);
    }

    [[nodiscard]] std::uint64_t count(const std::string& stream) const {
        jsStreamInfo* info = nullptr;
        if (js_GetStreamInfo(&info, context_, stream.c_str(), nullptr, nullptr) != NATS_OK) {
            return 0;
        }
        const std::uint64_t messages = info->State.Msgs;
        jsStreamInfo_Destroy(info);
        return messages;
    }

    using Message = std::unique_ptr<natsMsg, decltype(&natsMsg_Destroy)>;

    // Everything that the stream holds, in its order.
    [[nodiscard]] std::vector<Message> read(const std::string& stream) const {
        std::vector<Message> messages;
        const std::uint64_t all = count(stream);
        for (std::uint64_t number = 1; messages.size() < all; ++number) {
            natsMsg* message = nullptr;
            const natsStatus status =
                js_GetMsg(&message, context_, stream.c_str(), number, nullptr, nullptr);
            if (status == NATS_NOT_FOUND) continue;  // deleted
            if (status != NATS_OK) ADD_FAILURE() << number << ": " << natsStatus_GetText(status);
            if (status != NATS_OK) break;
            messages.emplace_back(message, &natsMsg_Destroy);
        }
        return messages;
    }

    void purge(const std::string& stream) const {
        EXPECT_EQ(js_PurgeStream(context_, stream.c_str(), nullptr, nullptr), NATS_OK);
    }
    void delete_message(const std::string& stream, std::uint64_t number) const {
        EXPECT_EQ(js_DeleteMsg(context_, stream.c_str(), number, nullptr, nullptr), NATS_OK);
    }

private:
    natsConnection* connection_ = nullptr;
    jsCtx* context_ = nullptr;
};

inline std::string header(natsMsg* message, const std::string& name) {
    const char* value = nullptr;
    return natsMsgHeader_Get(message, name.c_str(), &value) == NATS_OK ? value : "(none)";
}

inline std::string payload(const NatsClient::Message& message) {
    return {
        natsMsg_GetData(message.get()),
        static_cast<std::size_t>(natsMsg_GetDataLength(message.get()))};
}

// A real nats-server with JetStream, with a folder and a port of its own.
class NatsServer {
public:
    // `configuration`: lines of its configuration file; `login`: "user:password@" for our own
    // look, or nothing, if that cannot be had so simply.
    explicit NatsServer(
        const std::string& configuration = {},
        std::optional<std::string> login = std::string()
    )
        : login_(std::move(login)) {
        std::ofstream(folder_.file("conf")) << configuration << "\n";
        start();
    }

    // From its next start on.
    void set_jetstream(bool is_on) { has_jetstream_ = is_on; }

    // On the port it had, if it had one.
    void start() {
        for (int tries = 0; tries < 5; ++tries) {
            if (!was_up_) port_ = free_port();
            process_.emplace(command());
            if (comes_up(*process_, [this] { return answers(); })) {
                was_up_ = true;
                return;
            }
        }
        FAIL() << "nats-server does not start, see " << folder_.file("log");
    }

    void kill() { process_->kill(); }
    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }

    [[nodiscard]] bool answers() const {
        return login_ ? NatsClient(url()).answers() : listens(port_);
    }
    [[nodiscard]] std::string url(const std::string& login) const {
        return "nats://" + login + "127.0.0.1:" + std::to_string(port_);
    }
    [[nodiscard]] std::string url() const { return url(login_.value_or("")); }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    [[nodiscard]] Command command() const {
        std::vector<std::string> words = {
            "nats-server",
            "-a",
            "127.0.0.1",
            "-p",
            std::to_string(port_),
            "-c",
            folder_.file("conf")};
        if (has_jetstream_) {
            words.insert(words.end(), {"-js", "-sd", folder_.path().string()});
        }
        return {std::move(words), {}, folder_.file("log")};
    }

    TempFolder folder_;
    std::optional<std::string> login_;
    std::uint16_t port_ = 0;
    bool was_up_ = false;
    bool has_jetstream_ = true;
    std::optional<Process> process_;
};

// Three servers that are one cluster.
class NatsCluster {
public:
    NatsCluster() {
        std::array<std::uint16_t, 3> ports{};
        std::string routes;
        for (std::uint16_t& port : ports) {
            port = free_port();
            routes += "\"nats://127.0.0.1:" + std::to_string(port) + "\"\n";
        }
        for (const std::uint16_t port : ports) {
            const std::string number = std::to_string(port);
            servers_[number] = std::make_unique<NatsServer>(
                "server_name: \"" + number + "\"\ncluster { name: c, listen: \"127.0.0.1:" +
                number + "\", routes: [" + routes + "] }"
            );
        }
    }

    // Of those that are up.
    [[nodiscard]] std::string url() const {
        std::string places;
        for (const auto& [_, server] : servers_) {
            places += (places.empty() ? "" : ",") + server->url().substr(std::strlen("nats://"));
        }
        return "nats://" + places;
    }

    // Waits until the cluster has a leader, and makes a stream with so many replicas.
    void add_stream(const std::string& name, const std::string& subject, std::int64_t replicas)
        const {
        const auto replicate = [&](jsStreamConfig& config) { config.Replicas = replicas; };
        EXPECT_TRUE(wait_until(
            [&] { return one().try_add_stream(name, subject, replicate) == NATS_OK; },
            std::chrono::minutes(2)
        ));
    }

    // Kills the server that takes the stream's messages, as soon as there is one.
    void kill_leader_of(const std::string& stream) {
        std::string leader;
        EXPECT_TRUE(wait_until(
            [&] {
                leader = one().leader_of(stream);
                return !leader.empty();
            },
            std::chrono::minutes(2)
        ));
        EXPECT_EQ(servers_.erase(leader), 1U) << leader;
    }

private:
    [[nodiscard]] NatsClient one() const { return NatsClient(servers_.begin()->second->url()); }

    std::map<std::string, std::unique_ptr<NatsServer>> servers_;
};

// One server for all tests of the binary.
inline NatsServer& nats_server() {
    static NatsServer server;
    return server;
}

}  // namespace outrider::live
