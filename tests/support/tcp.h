#pragma once

#include <cstdint>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/descriptor.h"

namespace outrider::live {

inline sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// A connection to a port of 127.0.0.1; empty: nobody is there.
[[nodiscard]] inline Descriptor connect_to(std::uint16_t port) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    const auto* place = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(socket.get(), place, sizeof address) != 0) socket.reset();
    return socket;
}

// The same to a socket in the file system.
[[nodiscard]] inline Descriptor connect_to(const std::string& path) {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* place = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(socket.get(), place, sizeof address) != 0) socket.reset();
    return socket;
}

[[nodiscard]] inline bool listens(std::uint16_t port) {
    return static_cast<bool>(connect_to(port));
}

}  // namespace outrider::live
