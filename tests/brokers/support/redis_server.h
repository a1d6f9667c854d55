#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include "brokers/support/process.h"
#include "support/temp_folder.h"

namespace outrider::live {

// A client of Redis that is not ours: hiredis as everybody uses it. Throws nothing; a failed
// command fails the test.
class RedisClient {
public:
    explicit RedisClient(std::uint16_t port)
        : context_(redisConnectWithTimeout("127.0.0.1", port, {5, 0})) {}
    ~RedisClient() {
        if (context_ != nullptr) redisFree(context_);
    }
    RedisClient(const RedisClient&) = delete;
    RedisClient& operator=(const RedisClient&) = delete;

    using Reply = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;

    [[nodiscard]] Reply ask(const std::vector<std::string>& words) {
        std::vector<const char*> pointers;
        std::vector<std::size_t> sizes;
        for (const std::string& word : words) {
            pointers.push_back(word.data());
            sizes.push_back(word.size());
        }
        void* reply = nullptr;
        if (context_ != nullptr && context_->err == 0) {
            reply = redisCommandArgv(
                context_, static_cast<int>(words.size()), pointers.data(), sizes.data()
            );
        }
        return {static_cast<redisReply*>(reply), &freeReplyObject};
    }

    void run(const std::vector<std::string>& words) {
        const Reply reply = ask(words);
        ASSERT_NE(reply, nullptr) << words[0];
        ASSERT_NE(reply->type, REDIS_REPLY_ERROR) << words[0] << ": " << reply->str;
    }

    [[nodiscard]] bool answers() {
        const Reply reply = ask({"PING"});
        if (reply == nullptr) return false;
        // A server with a password is up, too.
        return reply->type == REDIS_REPLY_STATUS || std::string(reply->str).starts_with("NOAUTH");
    }

private:
    redisContext* context_;
};

// A real redis-server with a folder and a port of its own. It syncs before it answers: by default
// it may answer up to two seconds before it even writes, and a kill loses that.
class RedisServer {
public:
    explicit RedisServer(std::vector<std::string> arguments = {})
        : arguments_(std::move(arguments)) {
        start();
    }

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
        FAIL() << "redis-server does not start, see " << folder_.file("log");
    }

    void kill() { process_->kill(); }
    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }

    [[nodiscard]] bool answers() const { return RedisClient(port_).answers(); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

    void set(const std::string& name, const std::string& value) const {
        RedisClient(port_).run({"CONFIG", "SET", name, value});
    }

private:
    [[nodiscard]] Command command() const {
        std::vector<std::string> words = {
            "redis-server",
            "--port",
            std::to_string(port_),
            "--bind",
            "127.0.0.1",
            "--dir",
            folder_.path().string(),
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--save",
            "",
            "--repl-diskless-sync-delay",
            "0"};
        words.insert(words.end(), arguments_.begin(), arguments_.end());
        return {std::move(words), {}, folder_.file("log")};
    }

    TempFolder folder_;
    std::vector<std::string> arguments_;
    std::uint16_t port_ = 0;
    bool was_up_ = false;
    std::optional<Process> process_;
};

}  // namespace outrider::live
