#include "stores/sqlite/lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

Error cannot_open(const std::string& path, int number) {
    Error error = system_error("open the lock file '" + path + "'", number);
    if (number != EACCES) return error;
    error.remedy = Remedy::correct;
    error.text += ": give it the owner and the mode of the database beside it";
    return error;
}

}  // namespace

Result<void> DestinationLock::open() {
    if (file_) return {};
    file_ = create();
    if (!file_ && errno == EEXIST) file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    if (!file_) return cannot_open(path_, errno);
    return {};
}

// As SQLite makes its own files: with the mode of the database, and its owner and group as far as
// we may give the file away.
Descriptor DestinationLock::create() const {
    struct stat database {};
    const bool known = ::stat(database_.c_str(), &database) == 0;
    const mode_t mode = known ? database.st_mode & 0666U : 0644U;
    Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!file || !known) return file;
    constexpr uid_t kAsItIs = -1;
    [[maybe_unused]] const int shared = ::fchown(file.get(), kAsItIs, database.st_gid);
    [[maybe_unused]] const int owned = ::fchown(file.get(), database.st_uid, kAsItIs);
    [[maybe_unused]] const int allowed = ::fchmod(file.get(), mode);  // open() minds the umask
    return file;
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

Result<bool> DestinationLock::is_taken_elsewhere() const {
    if (taken_) return false;
    const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT) return false;
    if (!file) return cannot_open(path_, errno);
    struct flock range = byte_of(destination_);
    if (::fcntl(file.get(), F_OFD_GETLK, &range) != 0) {
        return system_error("look at the lock '" + path_ + "'", errno);
    }
    return range.l_type != F_UNLCK;
}

}  // namespace outrider::sqlite
