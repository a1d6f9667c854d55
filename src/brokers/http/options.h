#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "outrider/time.h"

#include "brokers/wire/options.h"
#include "brokers/wire/url.h"
#include "core/result.h"

namespace outrider {

// Which HTTP is spoken.
enum class HttpVersion : std::uint8_t {
    best,  // 2 where a TLS server offers it, else 1.1
    one,   // 1.1
};

// Where to post messages, and how.
struct HttpOptions : wire::Tls {
    wire::Endpoint endpoint;
    std::string path = "/";  // as it is written in the URL, percent-encoded

    // Basic authentication, or a bearer token; at most one of them. Empty: none.
    std::string user;
    std::string password;
    std::string token;

    // Signs every request as Standard Webhooks says: "whsec_" and base64. Several, with commas
    // between them, while a receiver changes from one to the other. Empty: requests are not signed.
    std::string secret;

    // Whether a receiver may have a private, loopback or link-local address.
    bool allow_private = false;

    HttpVersion version = HttpVersion::best;

    // The most requests in flight at once; with HTTP/1.1 each has a connection.
    std::uint64_t window = 32;

    // The most messages of one request. Above 1 they go as a CloudEvents batch.
    std::uint64_t batch = 1;

    // How long one request may take, from the connection to the end of the answer.
    Duration timeout = std::chrono::seconds(10);

    // The target is appended to the path; here it is empty unless somebody says otherwise.
    wire::Options wire = {.target = ""};
};

// Whether the receiver may turn out to speak version 2.
[[nodiscard]] inline bool may_be_http2(const HttpOptions& options) {
    return options.tls && options.version == HttpVersion::best;
}

// Reads http://[user:password@]host[:port][/path][?token=&secret=&allow_private=&version=&window=
// &batch=&timeout=&tls_ca=&tls_cert=&tls_key=&target=&format=&source=] over the given defaults;
// https: is the same with TLS. No part of the URL but names is ever quoted in an error.
[[nodiscard]] Result<HttpOptions> parse_http_url(std::string_view url, HttpOptions defaults = {});

}  // namespace outrider
