#pragma once

#include "outrider/time.h"

#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// Keeps the log small: removes replaced cursor rows, rotates to the next segment, truncates
// segments that everyone has passed and that are old enough. One process at a time does it, by an
// advisory lock; the others have nothing to do.
class Cleaner {
public:
    Cleaner(const Connection& connection, const Names& names)
        : connection_(connection),
          names_(names) {}

    // One round. Returns how many segments were emptied; the messages in them are not counted.
    [[nodiscard]] Result<std::uint64_t> run(Duration retention);

private:
    struct Segment {
        int number = 0;
        bool active = false;
        bool used = false;  // opened, and not emptied since
        bool closed = false;
        bool expired = false;     // closed for longer than the retention
        bool old_enough = false;  // to be rotated away from
        std::int64_t bytes = 0;
    };

    [[nodiscard]] Result<std::uint64_t> clean(Duration retention);
    [[nodiscard]] Result<std::vector<Segment>> read_segments(Duration retention);

    // A process that died between rotating and noting the id leaves a segment that is neither
    // active nor closed.
    [[nodiscard]] Result<void> close_left_behind(const std::vector<Segment>& segments);
    [[nodiscard]] Result<void> rotate(const std::vector<Segment>& segments);
    [[nodiscard]] Result<std::uint64_t> truncate(const std::vector<Segment>& segments);
    [[nodiscard]] Result<bool> truncate_one(const Segment& segment);
    [[nodiscard]] Result<void> script(std::string_view sql, int segment);

    const Connection& connection_;
    const Names& names_;
};

}  // namespace outrider::postgres
