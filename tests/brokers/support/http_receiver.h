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
#include "core/descriptor.h"
#include "support/tcp.h"
#include "support/temp_folder.h"

namespace outrider::live {

// One request as the receiver saw it.
struct Posted {
    std::string method;
    std::string path;
    int peer = 0;  // the port it came from: the same for requests of one connection
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    [[nodiscard]] std::string header(const std::string& name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) return value;
        }
        return "(none)";
    }
};

inline std::string decode_base64(const std::string& text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned buffer = 0;
    unsigned bits = 0;
    for (const char c : text.substr(0, text.find('='))) {
        buffer = (buffer << 6U) | static_cast<unsigned>(digits.find(c));
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>((buffer >> bits) & 0xffU);
    }
    return bytes;
}

// tests/support/http_receiver.py in a process of its own, with a port and a file of its own.
class HttpReceiver {
public:
    // With certificates: https. With an authority: clients must have a certificate of it.
    explicit HttpReceiver(const Certificates* certificates = nullptr, std::string authority = {})
        : certificates_(certificates),
          authority_(std::move(authority)) {
        start();
    }

    // On the port it had, if it had one.
    void start() {
        for (int tries = 0; tries < 5; ++tries) {
            if (!was_up_) port_ = free_port();
            process_.emplace(command());
            if (comes_up(*process_, [this] { return listens(port_); })) {
                was_up_ = true;
                return;
            }
        }
        FAIL() << "the receiver does not start, see " << folder_.file("log");
    }

    void kill() { process_->kill(); }
    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }
    void forget() const { std::ofstream(file(), std::ios::trunc).flush(); }

    [[nodiscard]] std::uint16_t port() const { return port_; }

    // Everything that was posted so far, in its order.
    [[nodiscard]] std::vector<Posted> posted() const {
        std::vector<Posted> posted;
        std::ifstream lines(file());
        for (std::string line; std::getline(lines, line);) {
            const auto json = nlohmann::json::parse(line, nullptr, false);
            if (json.is_discarded()) continue;  // killed while it wrote: it has not answered
            posted.push_back(
                {json.at("method"),
                 json.at("path"),
                 json.at("peer"),
                 json.at("headers"),
                 decode_base64(json.at("body"))}
            );
        }
        return posted;
    }

private:
    [[nodiscard]] std::string file() const { return folder_.file("posted"); }
    [[nodiscard]] Command command() const {
        std::vector<std::string> words = {
            "python3", OUTRIDER_HTTP_RECEIVER, std::to_string(port_), file()};
        if (certificates_ != nullptr) {
            words.push_back(certificates_->certificate());
            words.push_back(certificates_->key());
        }
        if (!authority_.empty()) words.push_back(authority_);
        return {std::move(words), {}, folder_.file("log")};
    }

    TempFolder folder_;
    const Certificates* certificates_;
    std::string authority_;
    std::uint16_t port_ = 0;
    bool was_up_ = false;
    std::optional<Process> process_;
};

// One receiver for all tests of the binary.
inline HttpReceiver& http_receiver() {
    static HttpReceiver receiver;
    return receiver;
}

}  // namespace outrider::live
