#pragma once

#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "brokers/support/certificates.h"
#include "brokers/support/process.h"
#include "support/tcp.h"
#include "support/temp_folder.h"

namespace outrider::live {

// A real mosquitto with a folder and ports of its own.
class MosquittoServer {
public:
    // `settings`: more lines of its configuration.
    explicit MosquittoServer(
        std::string settings = "allow_anonymous true\nmax_inflight_messages 0\n",
        const Certificates* certificates = nullptr
    )
        : settings_(std::move(settings)),
          certificates_(certificates) {
        start();
    }

    // On the port it had, if it had one.
    void start() {
        for (int tries = 0; tries < 5; ++tries) {
            if (!was_up_) choose_port();
            process_.emplace(Command{
                {"mosquitto", "-v", "-c", folder_.file("conf")}, {}, folder_.file("log")});
            if (comes_up(*process_, [this] { return listens(port_); })) {
                was_up_ = true;
                return;
            }
        }
        FAIL() << "mosquitto does not start, see " << folder_.file("log");
    }

    void kill() { process_->kill(); }
    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }

    // Writes everything that must outlast a kill to its disk: sessions, subscriptions, queues.
    void save() const {
        const std::size_t before = logged("Saving in-memory database");
        process_->signal(SIGUSR1);
        EXPECT_TRUE(wait_until([&] { return logged("Saving in-memory database") > before; }));
    }

    // How many lines of its log have the text in them.
    [[nodiscard]] std::size_t logged(const std::string& text) const {
        std::size_t count = 0;
        std::ifstream log(folder_.file("log"));
        for (std::string line; std::getline(log, line);) {
            count += line.find(text) != std::string::npos ? 1 : 0;
        }
        return count;
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string url(const std::string& login = {}) const {
        return "mqtt://" + login + "127.0.0.1:" + std::to_string(port_);
    }

private:
    void choose_port() {
        port_ = free_port();
        std::ofstream file(folder_.file("conf"));
        file << "listener " << port_ << " 127.0.0.1\n";
        if (certificates_ != nullptr) {
            file << "cafile " << certificates_->authority() << "\ncertfile "
                 << certificates_->certificate() << "\nkeyfile " << certificates_->key() << "\n";
        }
        // As itself: it would become another user, who may not write to the folder.
        file << "user root\npersistence true\npersistence_location " << folder_.path().string()
             << "/\nmax_queued_messages 0\n"
             << settings_ << "\n";
    }

    TempFolder folder_;
    std::string settings_;
    const Certificates* certificates_;
    std::uint16_t port_ = 0;
    bool was_up_ = false;
    std::optional<Process> process_;
};

// One message as mosquitto_sub printed it.
struct Heard {
    std::string topic;
    std::string payload;
    std::string content_type;
    int qos = 0;
    std::vector<std::pair<std::string, std::string>> headers;

    [[nodiscard]] std::string header(const std::string& name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) return value;
        }
        return "(none)";
    }
};

// mosquitto_sub in a process of its own. QoS 1: with 2 mosquitto 2.0.11 stops after 20 messages.
class MosquittoSub {
public:
    // `more`: options of the program. {"-c", "-x", "3600"}: its session lasts when the server dies.
    explicit MosquittoSub(
        const MosquittoServer& server,
        const std::string& topics = "#",
        std::vector<std::string> more = {}
    )
        : server_(server) {
        static int count = 0;
        name_ = "reader" + std::to_string(++count);
        std::vector<std::string> words = {"mosquitto_sub", "-h", "127.0.0.1", "-V", "5", "-q", "1"};
        const std::vector<std::string> place = {"-p", std::to_string(server.port()), "-t", topics};
        words.insert(words.end(), place.begin(), place.end());
        const std::vector<std::string> form = {"-i", name_, "-F", "%x %j"};
        words.insert(words.end(), form.begin(), form.end());
        words.insert(words.end(), more.begin(), more.end());
        process_.emplace(Command{std::move(words), {}, folder_.file("heard")});
        await_return();
    }

    // Waits until it has subscribed once more than the last time: after a restart of the server.
    void await_return() {
        const std::size_t before = subscribed_;
        EXPECT_TRUE(wait_until([&] {
            subscribed_ = server_.logged("Sending SUBACK to " + name_);
            return subscribed_ > before;
        }));
    }

    // Whether it has written down all that the server has sent to it.
    [[nodiscard]] bool is_abreast() const {
        return heard().size() == server_.logged("Sending PUBLISH to " + name_ + " ");
    }

    // Everything so far, in the order it came.
    [[nodiscard]] std::vector<Heard> heard() const {
        std::vector<Heard> heard;
        std::ifstream lines(folder_.file("heard"));
        for (std::string line; std::getline(lines, line) && !lines.eof();) {
            if (line.find(" {") != std::string::npos) heard.push_back(read(line));
        }
        return heard;
    }

    // The same, once there are at least so many of them.
    [[nodiscard]] std::vector<Heard> wait_for(std::size_t count) const {
        EXPECT_TRUE(wait_until([&] { return heard().size() >= count; }, std::chrono::minutes(1)));
        return heard();
    }

private:
    // The payload in hexadecimal, and the rest as JSON, which is cut before it repeats the payload:
    // JSON has no room for any bytes.
    [[nodiscard]] static Heard read(const std::string& line) {
        Heard heard;
        const std::size_t space = line.find(' ');
        for (std::size_t i = 0; i + 1 < space; i += 2) {
            heard.payload += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
        }
        const std::string text = line.substr(space + 1);
        const auto json = nlohmann::json::parse(text.substr(0, text.find(",\"payload\":")) + "}");
        heard.topic = json.at("topic");
        heard.qos = json.at("qos");
        const auto properties = json.value("properties", nlohmann::json::object());
        heard.content_type = properties.value("content-type", "");
        const auto pairs = properties.value("user-properties", nlohmann::json::object());
        for (const auto& [name, value] : pairs.items()) heard.headers.emplace_back(name, value);
        return heard;
    }

    const MosquittoServer& server_;
    std::string name_;
    std::size_t subscribed_ = 0;
    TempFolder folder_;
    std::optional<Process> process_;
};

// One server for all tests of the binary.
inline MosquittoServer& mosquitto_server() {
    static MosquittoServer server;
    return server;
}

}  // namespace outrider::live
