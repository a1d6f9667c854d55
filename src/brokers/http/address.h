#pragma once

#include <string>

#include <sys/socket.h>

namespace outrider::http {

// Whether an address is none of the public internet: private, loopback, link-local, shared, of
// benchmarks, multicast, unspecified or reserved; also where it is an IPv4 address inside an IPv6
// one. Whatever is neither IPv4 nor IPv6 counts as private. Pure.
[[nodiscard]] bool is_private(const sockaddr& address);

// The same for a host that is written as an address; false for names.
[[nodiscard]] bool is_private_literal(const std::string& host);

// "127.0.0.1", "::1".
[[nodiscard]] std::string to_text(const sockaddr& address);

}  // namespace outrider::http
