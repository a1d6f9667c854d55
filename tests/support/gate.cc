#include "support/gate.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "support/tcp.h"

namespace outrider::live {
namespace {

constexpr std::size_t kPortion = 64U << 10U;
constexpr std::size_t kSlowPortion = 400;
constexpr std::size_t kWaiting = 256U << 10U;  // the most that is read ahead of a slow reader
constexpr int kTickMillis = 2;

}  // namespace

Gate::Gate(std::uint16_t to, std::uint16_t at) : Gate([to] { return connect_to(to); }, at) {
}

Gate::Gate(Connect connect, std::uint16_t at)
    : connect_(std::move(connect)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    sockaddr_in address = loopback(at);
    socklen_t size = sizeof address;
    auto* place = reinterpret_cast<sockaddr*>(&address);
    const int again = 1;  // a gate of the same port may have been there before
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    const bool is_there = ::bind(listener_.get(), place, size) == 0 &&
                          ::listen(listener_.get(), 64) == 0 &&
                          ::getsockname(listener_.get(), place, &size) == 0;
    if (!is_there) throw std::runtime_error("the gate has no port");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
}

Gate::~Gate() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    set(Mode::cut);
    thread_.join();
}

void Gate::set(Mode mode) {
    {
        const std::lock_guard lock(mutex_);
        mode_ = mode;
        for (Pair& pair : pairs_) {
            if (mode == Mode::cut || (mode == Mode::open && pair.has_lost)) reset(pair);
        }
    }
    const std::uint64_t one = 1;
    static_cast<void>(!::write(bell_.get(), &one, sizeof one));
}

void Gate::open() {
    set(Mode::open);
}

void Gate::cut() {
    set(Mode::cut);
}

void Gate::freeze() {
    set(Mode::frozen);
}

void Gate::lose_answers() {
    set(Mode::no_answers);
}

void Gate::lose_requests() {
    set(Mode::no_requests);
}

void Gate::slow() {
    set(Mode::slow);
}

void Gate::reset_after(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    fuse_ = bytes;
}

void Gate::run() {
    while (true) {
        wait();
        const std::lock_guard lock(mutex_);
        if (is_over_) return;
        serve();
    }
}

// Until a byte can move, somebody comes, or something was said. Slow means by the clock.
void Gate::wait() {
    std::vector<pollfd> entries = {{bell_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    int patience = -1;
    {
        const std::lock_guard lock(mutex_);
        if (mode_ == Mode::slow && !pairs_.empty()) patience = kTickMillis;
        for (const Pair& pair : pairs_) {
            if (!moves() || patience >= 0) break;
            for (const Lane* lane : {&pair.up, &pair.down}) {
                const bool reads = !lane->is_over && lane->bytes.size() < kWaiting;
                if (reads) entries.push_back({lane->from, POLLIN, 0});
                if (!lane->bytes.empty()) entries.push_back({lane->to, POLLOUT, 0});
            }
        }
    }
    ::poll(entries.data(), entries.size(), patience);
    std::uint64_t rings = 0;
    static_cast<void>(!::read(bell_.get(), &rings, sizeof rings));
}

void Gate::serve() {
    accept();
    for (Pair& pair : pairs_) {
        if (moves() && !pair.is_dead) move(pair);
    }
    pairs_.remove_if([](const Pair& pair) { return pair.is_dead; });
}

void Gate::accept() {
    while (true) {
        Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)
        );
        if (!client) return;
        if (mode_ == Mode::cut) continue;
        Descriptor server = connect_();
        if (!server) continue;
        ::fcntl(server.get(), F_SETFL, O_NONBLOCK);
        Pair& pair = pairs_.emplace_back();
        pair.up = {client.get(), server.get(), {}, false};
        pair.down = {server.get(), client.get(), {}, false};
        pair.client = std::move(client);
        pair.server = std::move(server);
    }
}

std::size_t Gate::portion() const {
    return mode_ == Mode::slow ? kSlowPortion : kPortion;
}

void Gate::move(Pair& pair) {
    pull(pair, pair.up, mode_ == Mode::no_requests);
    pull(pair, pair.down, mode_ == Mode::no_answers);
    push(pair, pair.down);
    push(pair, pair.up);
    const bool is_over = (pair.up.is_over && pair.up.bytes.empty()) ||
                         (pair.down.is_over && pair.down.bytes.empty());
    if (is_over) pair.is_dead = true;  // its descriptors close, and both ends know
}

void Gate::pull(Pair& pair, Lane& lane, bool is_lost) {
    std::array<char, kPortion> part{};
    if (lane.is_over || lane.bytes.size() >= kWaiting) return;
    const ssize_t got = ::recv(lane.from, part.data(), portion(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) lane.is_over = true;
    if (got <= 0) return;
    if (is_lost) {
        pair.has_lost = true;
    } else {
        lane.bytes.append(part.data(), static_cast<std::size_t>(got));
    }
}

void Gate::push(Pair& pair, Lane& lane) {
    const bool is_up = &lane == &pair.up;
    std::size_t count = std::min(lane.bytes.size(), portion());
    if (count == 0) return;
    if (is_up && fuse_ != 0) count = std::min(count, fuse_);
    const ssize_t put = ::send(lane.to, lane.bytes.data(), count, MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR) pair.is_dead = true;
    if (put <= 0) return;
    const auto moved = static_cast<std::size_t>(put);
    lane.bytes.erase(0, moved);
    if (!is_up) return;
    sent_ += moved;
    if (fuse_ == 0) return;
    fuse_ -= moved;
    if (fuse_ != 0) return;
    resets_ += 1;
    for (Pair& one : pairs_) reset(one);
}

// Both ends are told at once, whatever was on its way.
void Gate::reset(Pair& pair) {
    const linger at_once{1, 0};
    for (const Descriptor* end : {&pair.client, &pair.server}) {
        ::setsockopt(end->get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    pair.is_dead = true;
}

}  // namespace outrider::live
