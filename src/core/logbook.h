#pragma once

#include <cstdint>
#include <vector>

#include "outrider/time.h"

#include "core/result.h"

namespace outrider {

// A message that code in this process has in hand, or once had when the process ended.
struct Mark {
    std::int64_t seq = 0;
    std::uint32_t ends = 0;  // unclean ends that count against it
    bool in_hand = false;    // handed over, and not answered yet
    bool operator==(const Mark&) const = default;
};

// What sessions before this one have left behind.
struct Legacy {
    std::uint32_t ended = 0;   // sessions that ended without leaving
    bool unexplained = false;  // one of them had inherited an end that no mark explained
    std::vector<Mark> marks;   // by number; in hand are those of sessions that ended

    // For so long the store may still keep lanes of a session that ended, so that nothing is seen
    // of what it had in flight.
    Duration lag = Duration::zero();
};

// What a session writes. The numbers of the two lists differ.
struct Page {
    std::vector<Mark> marks;           // added or changed
    std::vector<std::int64_t> erased;  // marks that go
    bool unexplained = false;          // of this session
};

// Where a relay whose broker runs in its own process says that it is there, so that whoever comes
// after it knows whether it ended in order, and which messages it had in hand. Kept in the store,
// per destination. While all is well it is written to twice: by enter() and by leave(). One thread
// at a time. Destroyed without leave(), it is as if the process had ended.
class Logbook {
public:
    virtual ~Logbook() = default;

    // Begins the session, or goes on with it after the connection was lost, and takes over what
    // sessions have left that ended without leaving: each is handed to one successor. Marks of
    // nobody come, too; those in hand of living sessions, this one included, do not.
    [[nodiscard]] virtual Result<Legacy> enter() = 0;

    // All of it or nothing, on disk when it returns.
    [[nodiscard]] virtual Result<void> write(const Page& page) = 0;

    // Ends the session in order. Its marks stay, as nobody's.
    [[nodiscard]] virtual Result<void> leave() = 0;
};

}  // namespace outrider
