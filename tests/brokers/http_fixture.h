#pragma once

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "brokers/http/broker.h"
#include "brokers/http/classify.h"
#include "brokers/support/http_receiver.h"

namespace outrider::live {

// Every test finds a receiver that has got nothing so far.
class Http : public ::testing::Test {
protected:
    Http() { http_receiver().forget(); }

    static std::unique_ptr<Broker> open(const std::string& url) {
        const Result<HttpOptions> options = parse_http_url(url);
        EXPECT_TRUE(options) << options.error().text;
        return std::move(make_http_broker(*options)->open()).value();
    }
    static std::string place() { return "127.0.0.1:" + std::to_string(http_receiver().port()); }

    // `path`: without its slash, with parameters if there are any.
    static std::unique_ptr<Broker> open_at(const std::string& path) {
        const char* mark = path.find('?') == std::string::npos ? "?" : "&";
        return open("http://" + place() + "/" + path + mark + "allow_private=true");
    }
};

// The signature as the openssl program makes it: base64 of the HMAC with the secret's key.
inline std::string openssl_hmac(const std::string& secret, const std::string& content) {
    const TempFolder folder;
    std::ofstream(folder.file("content")) << content;
    const std::string command =
        "openssl dgst -sha256 -mac HMAC -macopt hexkey:$(printf %s '" + secret.substr(6) +
        "' | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n') -binary '" +
        folder.file("content") + "' | openssl base64 -A >'" + folder.file("signature") + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::string signature;
    std::ifstream(folder.file("signature")) >> signature;
    return signature;
}

// The HTTP/2 server of nghttp2, which takes every POST and prints every frame.
class Nghttpd {
public:
    explicit Nghttpd(const Certificates& certificates) : port_(free_port()) {
        std::ofstream(folder_.file("hook")) << "taken";
        std::vector<std::string> words = {
            "nghttpd",
            "-v",
            "-a",
            "127.0.0.1",
            "-d",
            folder_.path().string(),
            std::to_string(port_),
            certificates.key(),
            certificates.certificate()};
        process_.emplace(Command{std::move(words), {}, folder_.file("log")});
        EXPECT_TRUE(wait_until([this] { return listens(port_); }));
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }

    // How many lines of its output have the text in them.
    [[nodiscard]] std::size_t printed(const std::string& text) const {
        std::size_t count = 0;
        std::ifstream log(folder_.file("log"));
        for (std::string line; std::getline(log, line);) {
            count += line.find(text) != std::string::npos ? 1 : 0;
        }
        return count;
    }

private:
    TempFolder folder_;
    std::uint16_t port_;
    std::optional<Process> process_;
};

}  // namespace outrider::live
