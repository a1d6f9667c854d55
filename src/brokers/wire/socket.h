#pragma once

#include <string>

#include <netdb.h>
#include <poll.h>

#include "outrider/time.h"

#include "brokers/wire/url.h"
#include "core/descriptor.h"
#include "core/result.h"

namespace outrider::wire {

// Milliseconds until the deadline, at least 0, rounded up so that nobody spins before it.
[[nodiscard]] int millis_left(Deadline deadline);

// Waits until the descriptor is ready for `events` (POLLIN, POLLOUT) or broken. Error: the deadline
// has passed.
[[nodiscard]] Result<void> wait_ready(int descriptor, short events, Deadline deadline);

// A TCP connection: not blocking, without delay, with keepalives. Every address of the name is
// tried, all of them within the deadline; each has an equal share of the time that is left, so that
// one that is silent leaves some for the next. Only the look-up of the name itself has the timeouts
// of the operating system.
[[nodiscard]] Result<Descriptor> dial(const Endpoint& endpoint, Deadline deadline);

// The same with addresses that were found already; errors call them by the name.
[[nodiscard]] Result<Descriptor> dial(
    const addrinfo& addresses,
    const std::string& name,
    Deadline deadline
);

// Whether the other side has closed a connection that should be silent, or said something nobody
// asked for.
[[nodiscard]] bool is_stale(int descriptor);

}  // namespace outrider::wire
