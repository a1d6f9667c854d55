#pragma once

#include <string>

#include "core/broker.h"
#include "core/descriptor.h"

namespace outrider {

// A file of lines that several processes append to. Whoever appends has locked it. One thread at a
// time.
class LineFile {
public:
    explicit LineFile(std::string path) : path_(std::move(path)) {}

    // Appends the messages and returns once they are on disk, in the file that the path names. On
    // an error nothing of them counts: what was written of them is taken back, or is cut off by the
    // next append. A file whose end is not ours is refused.
    [[nodiscard]] Result<void> append(std::span<const Envelope> envelopes, Deadline deadline);

    // Opens the file, or creates it, and makes sure that it is the one the path names now.
    [[nodiscard]] Result<void> open();

private:
    [[nodiscard]] Result<void> create();
    [[nodiscard]] Result<void> lock(Deadline deadline);
    [[nodiscard]] Result<void> open_locked(Deadline deadline);
    [[nodiscard]] Result<std::int64_t> find_end(std::int64_t size) const;
    [[nodiscard]] Result<std::int64_t> cut_torn_tail();
    [[nodiscard]] bool is_current() const;
    [[nodiscard]] Error error(std::string_view what, int number) const;

    const std::string path_;
    Descriptor file_;
};

}  // namespace outrider
