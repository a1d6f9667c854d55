#include "brokers/file/file.h"

#include <cerrno>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/lines.h"

namespace outrider {
namespace {

// Gives the lock back at the end of an append.
class Unlock {
public:
    explicit Unlock(int file) : file_(file) {}
    ~Unlock() { ::flock(file_, LOCK_UN); }
    Unlock(const Unlock&) = delete;
    Unlock& operator=(const Unlock&) = delete;

private:
    int file_;
};

// How every line begins.
constexpr std::string_view kLineHead = "{\"id\":\"";

// A new name is on disk only once its directory is.
void sync_directory(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    const Descriptor directory(
        ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    );
    if (directory) ::fsync(directory.get());
}

}  // namespace

Error LineFile::error(std::string_view what, int number) const {
    return system_error(std::string(what) + " '" + path_ + "'", number);
}

// A rotated log has another file under its name: the old descriptor would write where nobody looks.
bool LineFile::is_current() const {
    struct stat mine {};
    struct stat named {};
    if (!file_ || ::fstat(file_.get(), &mine) != 0) return false;
    if (::stat(path_.c_str(), &named) != 0) return false;
    return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

Result<void> LineFile::create() {
    const bool existed = ::access(path_.c_str(), F_OK) == 0;
    file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file_) return error("open", errno);
    if (!existed) sync_directory(path_);
    return {};
}

Result<void> LineFile::open() {
    if (is_current()) return {};
    return create();
}

// The others hold the lock for one append only, so a short nap is all there is to wait for.
Result<void> LineFile::lock(Deadline deadline) {
    SystemClock clock;
    while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return error("lock", errno);
        if (clock.now() >= deadline) return error("lock", ETIMEDOUT);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

// Whoever waited for the lock may have got that of a file which was renamed meanwhile.
Result<void> LineFile::open_locked(Deadline deadline) {
    while (true) {
        if (Result<void> opened = open(); !opened) return opened;
        if (Result<void> locked = lock(deadline); !locked) return locked;
        if (is_current()) return {};
        ::flock(file_.get(), LOCK_UN);
    }
}

// Behind the last whole line.
Result<std::int64_t> LineFile::find_end(std::int64_t size) const {
    char block[4096];
    off_t end = size;
    while (end > 0) {
        const auto length = std::min<off_t>(end, sizeof block);
        const ssize_t got =
            ::pread(file_.get(), block, static_cast<std::size_t>(length), end - length);
        if (got != length) return error("read", got < 0 ? errno : EIO);
        const std::string_view text(block, static_cast<std::size_t>(length));
        const std::size_t newline = text.rfind('\n');
        if (newline != std::string_view::npos) {
            return end - length + static_cast<std::int64_t>(newline) + 1;
        }
        end -= length;
    }
    return std::int64_t{0};
}

// A process that was killed in the middle of a line leaves its beginning. Nobody was told that it
// is there. Whatever begins otherwise was written by somebody else, and is not ours to cut.
Result<std::int64_t> LineFile::cut_torn_tail() {
    const off_t size = ::lseek(file_.get(), 0, SEEK_END);
    if (size < 0) return error("seek in", errno);
    Result<std::int64_t> end = find_end(size);
    if (!end || *end == size) return end;
    char head[kLineHead.size()];
    const ssize_t got = ::pread(file_.get(), head, sizeof head, *end);
    if (got < 0) return error("read", errno);
    if (!kLineHead.starts_with(std::string_view(head, static_cast<std::size_t>(got)))) {
        return Error{
            Remedy::correct,
            "'" + path_ + "' ends with something that is no line of ours: name another file"};
    }
    if (::ftruncate(file_.get(), *end) != 0) return error("cut", errno);
    return end;
}

Result<void> LineFile::append(std::span<const Envelope> envelopes, Deadline deadline) {
    if (Result<void> opened = open_locked(deadline); !opened) return opened;
    const Unlock unlock(file_.get());
    const Result<std::int64_t> start = cut_torn_tail();
    if (!start) return start.error();
    Result<void> written = write_lines(envelopes, [this](std::string_view piece) {
        return write_all(file_.get(), piece);
    });
    if (written && ::fdatasync(file_.get()) != 0) written = error("sync", errno);
    // Renamed while we wrote: whoever took it away may have read it before that.
    if (written && !is_current()) written = error("keep", ESTALE);
    if (!written) {
        // Best effort: what cannot be taken back is repeated later, under the same ids.
        [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), *start);
        return Error{
            Remedy::wait, "'" + path_ + "': " + written.error().text, written.error().native_code};
    }
    return {};
}

}  // namespace outrider
