#pragma once

#include <cstdint>
#include <string>

#include "core/descriptor.h"
#include "core/result.h"

namespace outrider::sqlite {

// Who serves a destination of a database: a lock of the operating system on one byte of a file
// beside the database, held until it is given back or the object dies, gone with the process
// however it ends (and with those that it has forked, unless they have called exec: a child has the
// open file, too). Not on the database itself: closing any descriptor of that file would drop
// SQLite's own locks.
//
// The lock is on the file, not on its name: where the file was removed, or another has its name by
// now, the lock is worth nothing, and the next take() is for the file that is there.
class DestinationLock {
public:
    DestinationLock(std::string database_path, std::int64_t destination)
        : database_(std::move(database_path)),
          path_(database_ + "-outrider-lock"),
          destination_(destination) {}

    // True: it is ours now, or was already. False: another has it.
    [[nodiscard]] Result<bool> take();

    // Gives it back; the descriptor is what holds it. Closed and not unlocked: a child that
    // destroys what it inherited must not take it from its parent.
    void release() {
        taken_ = false;
        file_.reset();
    }

    // Whether anybody else has it. Makes no file, and may be asked by whoever may read it.
    [[nodiscard]] Result<bool> is_taken_elsewhere() const;

private:
    [[nodiscard]] Result<void> open();

    // A new file for everybody who may use the database, whoever comes first.
    [[nodiscard]] Descriptor create() const;
    [[nodiscard]] Result<bool> lock();

    // Whether the open file is still the one of that name.
    [[nodiscard]] bool is_in_place() const;

    const std::string database_;
    const std::string path_;
    const std::int64_t destination_;
    Descriptor file_;
    bool taken_ = false;
};

}  // namespace outrider::sqlite
