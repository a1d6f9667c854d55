#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace outrider::wire {

struct Endpoint {
    std::string host;
    std::uint16_t port = 0;  // 0: not said
};

struct Parameter {
    std::string name;
    std::string value;
};

// Where a broker is: scheme://user:password@host:port,host:port/path?name=value&... Every part is
// percent-decoded; the path comes without its slash. An IPv6 address stands in brackets.
struct Url {
    std::string scheme;  // in lower case
    std::string user;
    std::string password;
    std::vector<Endpoint> endpoints;  // at least one
    std::string path;
    std::vector<Parameter> parameters;
};

// The error quotes nothing of the text: any part of it may be a mistyped password.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

// "127.0.0.1:6379"; brackets around IPv6.
[[nodiscard]] std::string to_string(const Endpoint& endpoint);

// A copy of the text without the secret, for what a server or a library says about a login. A
// secret so short that it may be a part of any word would garble the text, and be guessed from what
// is missing: then a sentence stands in for all of it.
[[nodiscard]] std::string without_secret(std::string text, std::string_view secret);

}  // namespace outrider::wire
