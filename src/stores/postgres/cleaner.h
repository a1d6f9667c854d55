#pragma once

#include <functional>

#include "outrider/time.h"

#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// Keeps the log small: removes replaced cursor rows, rotates to the next segment, truncates
// segments that everyone has passed and that are old enough. Every step is a transaction of its own
// that begins with an advisory lock and looks at the state anew, so that any number of processes
// may do it, die in it or freeze in it, also behind a pooler: whoever comes next goes on from
// there.
class Cleaner {
public:
    Cleaner(const Connection& connection, const Names& names)
        : connection_(connection),
          names_(names) {}

    struct Segment {
        int number = 0;
        bool active = false;
        bool used = false;  // opened, and not emptied since
        bool closed = false;
        bool expired = false;     // closed for longer than the retention
        bool old_enough = false;  // to be rotated away from
        std::int64_t bytes = 0;
    };

    // A rotation takes three moves, each committed before the next: the new segment counts as used
    // before anybody can write into it, and the id that closes the old one is drawn after nobody
    // new can.
    struct Move {
        enum class Sort : std::uint8_t { none, open, activate, close };
        Sort sort = Sort::none;
        int segment = 0;
    };
    [[nodiscard]] static Move next_move(const std::vector<Segment>& segments);

    // One round. Returns how many segments were emptied; the messages in them are not counted.
    [[nodiscard]] Result<std::uint64_t> run(Duration retention);

private:
    // What became of a step.
    enum class Step : std::uint8_t { done, nothing };

    // A transaction under the cleaners' lock. Nothing: somebody else has it, or `work` found
    // nothing to do; then it is rolled back.
    [[nodiscard]] Result<Step> step(const std::function<Result<Step>()>& work);
    [[nodiscard]] Result<Step> remove_replaced();
    [[nodiscard]] Result<Step> rotate(Duration retention);
    [[nodiscard]] Result<Step> truncate(Duration retention);
    [[nodiscard]] Result<std::vector<Segment>> read_segments(Duration retention);
    [[nodiscard]] Result<Step> script(std::string_view sql, int segment);

    const Connection& connection_;
    const Names& names_;
};

}  // namespace outrider::postgres
