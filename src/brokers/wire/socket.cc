#include "brokers/wire/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/lines.h"

namespace outrider::wire {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

void set(int descriptor, int level, int option, int value) {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
}

// A peer that vanished without a word is noticed by the kernel too, not by our deadlines alone.
void tune(int descriptor) {
    set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 15);
    set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Result<Addresses> look_up(const Endpoint& endpoint) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(endpoint.port);
    const int code = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
    if (code != 0) {
        return Error{
            Remedy::wait,
            "cannot find host '" + endpoint.host + "': " + ::gai_strerror(code),
            code};
    }
    return Addresses(found, &::freeaddrinfo);
}

Result<Descriptor> connect_to(const addrinfo& address, const std::string& name, Deadline deadline) {
    const std::string what = "connect to " + name;
    Descriptor socket(
        ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol)
    );
    if (!socket) return system_error(what, errno);
    if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
        if (errno != EINPROGRESS) return system_error(what, errno);
        const Result<void> ready = wait_ready(socket.get(), POLLOUT, deadline);
        if (!ready) return system_error(what, ETIMEDOUT);
        int failure = 0;
        socklen_t size = sizeof failure;
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
        if (failure != 0) return system_error(what, failure);
    }
    tune(socket.get());
    return socket;
}

}  // namespace

int millis_left(Deadline deadline) {
    const Duration left = deadline - SystemClock().now();
    if (left <= Duration::zero()) return 0;
    return static_cast<int>(
        std::min<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 1 << 30)
    );
}

Result<void> wait_ready(int descriptor, short events, Deadline deadline) {
    pollfd entry{descriptor, events, 0};
    while (true) {
        const int left = millis_left(deadline);
        const int ready = ::poll(&entry, 1, left);
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return system_error("wait for the broker", errno);
        if (left == 0) return Error{Remedy::wait, "no answer before the deadline", ETIMEDOUT};
    }
}

Result<Descriptor> dial(const Endpoint& endpoint, Deadline deadline) {
    const Result<Addresses> addresses = look_up(endpoint);
    if (!addresses) return addresses.error();
    return dial(**addresses, to_string(endpoint), deadline);
}

Result<Descriptor> dial(const addrinfo& addresses, const std::string& name, Deadline deadline) {
    int left = 0;
    for (const addrinfo* one = &addresses; one != nullptr; one = one->ai_next) ++left;
    Result<Descriptor> socket = system_error("connect to " + name, EADDRNOTAVAIL);
    for (const addrinfo* one = &addresses; one != nullptr; one = one->ai_next) {
        const MonoTime now = SystemClock().now();
        const Duration share = std::max(deadline - now, Duration::zero()) / left--;
        socket = connect_to(*one, name, now + share);
        if (socket || millis_left(deadline) == 0) break;
    }
    return socket;
}

bool is_stale(int descriptor) {
    char byte = 0;
    const ssize_t got = ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace outrider::wire
