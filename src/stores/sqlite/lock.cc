#include "stores/sqlite/lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include "core/lines.h"

namespace outrider::sqlite {
namespace {

struct flock byte_of(std::int64_t destination) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = destination;
    range.l_len = 1;
    return range;
}

}  // namespace

Result<void> DestinationLock::open() {
    if (file_) return {};
    file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!file_) return system_error("open the lock file '" + path_ + "'", errno);
    return {};
}

bool DestinationLock::is_in_place() const {
    struct stat ours {};
    struct stat named {};
    if (::fstat(file_.get(), &ours) != 0 || ::stat(path_.c_str(), &named) != 0) return false;
    return ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

Result<bool> DestinationLock::take() {
    if (file_ && !is_in_place()) release();
    if (taken_) return true;
    if (Result<void> opened = open(); !opened) return opened.error();
    Result<bool> locked = lock();
    // Removed between the two: whoever has made it anew may have it, the next look will tell.
    if (locked && *locked && !is_in_place()) {
        release();
        return false;
    }
    taken_ = locked && *locked;
    return locked;
}

Result<bool> DestinationLock::lock() {
    struct flock range = byte_of(destination_);
    if (::fcntl(file_.get(), F_OFD_SETLK, &range) == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    return system_error("lock '" + path_ + "'", errno);
}

Result<bool> DestinationLock::is_taken_elsewhere() {
    if (Result<void> opened = open(); !opened) return opened.error();
    struct flock range = byte_of(destination_);
    if (::fcntl(file_.get(), F_OFD_GETLK, &range) != 0) {
        return system_error("look at the lock '" + path_ + "'", errno);
    }
    return range.l_type != F_UNLCK;
}

}  // namespace outrider::sqlite
