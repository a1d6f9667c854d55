#include "stores/sqlite/waker.h"

#include <algorithm>
#include <array>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

namespace outrider::sqlite {
namespace {

// The watch fires when pages are written; the commit is visible once they are synced, a little
// later.
constexpr Duration kPauseFirst = std::chrono::microseconds(200);
constexpr Duration kPauseMax = std::chrono::milliseconds(100);

// A database that is busy with other things wakes us no more often than this.
constexpr Duration kRest = std::chrono::milliseconds(1);

}  // namespace

SqliteWaker::SqliteWaker(std::string path)
    : path_(std::move(path)),
      ring_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      watch_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      pause_(kPauseFirst) {
}

void SqliteWaker::ring() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(ring_.get(), &one, sizeof one);
}

// The WAL file exists for as long as somebody has the database open, and we have.
void SqliteWaker::watch() {
    if (watching_ || !watch_) return;
    const std::string wal = path_ + "-wal";
    watching_ = ::inotify_add_watch(watch_.get(), wal.c_str(), IN_MODIFY | IN_DELETE_SELF) >= 0;
}

bool SqliteWaker::connect() {
    if (connection_) return true;
    Result<Connection> connection = Connection::open(path_, Connection::Schema::needed);
    if (!connection) return false;
    Result<Statement> statement = connection->prepare("pragma data_version");
    if (!statement) return false;
    connection_ = std::move(connection).value();
    data_version_ = std::move(statement).value();
    return true;
}

// The watch is on the WAL of the old file, wherever that is now.
void SqliteWaker::disconnect() {
    data_version_ = {};
    connection_.reset();
    watch_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    watching_ = false;
    seen_ = -1;
}

bool SqliteWaker::has_changed() {
    if (!connect()) return false;
    if (!connection_->check_in_place()) {
        disconnect();
        return true;
    }
    watch();
    const ResetLater reset(data_version_);
    const Result<bool> row = data_version_.step();
    if (!row || !*row) return false;
    const std::int64_t version = data_version_.integer(0);
    return std::exchange(seen_, version) != version;
}

void SqliteWaker::wait(MonoTime until) {
    pause_ = kPauseFirst;
    if (doze(std::min(until, woken_at_ + kRest))) return;
    while (!has_changed()) {
        const MonoTime now = clock_.now();
        if (now >= until) return;
        if (doze(std::min(until, now + pause_))) return;
        pause_ = std::min(pause_ * 2, kPauseMax);
    }
    woken_at_ = clock_.now();
}

bool SqliteWaker::doze(MonoTime until) {
    const auto left = std::max<Duration>(until - clock_.now(), Duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec timeout{
        seconds.count(),
        std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count(),
    };
    std::array<pollfd, 2> sources = {
        pollfd{ring_.get(), POLLIN, 0}, pollfd{watch_.get(), POLLIN, 0}};
    ::ppoll(sources.data(), sources.size(), &timeout, nullptr);
    if (sources[1].revents != 0) drain_watch();
    if (sources[0].revents == 0) return false;
    std::uint64_t count = 0;
    return ::read(ring_.get(), &count, sizeof count) > 0;
}

void SqliteWaker::drain_watch() {
    alignas(inotify_event) std::array<char, 4096> buffer{};
    ssize_t length = 0;
    while ((length = ::read(watch_.get(), buffer.data(), buffer.size())) > 0) {
        for (ssize_t at = 0; at < length;) {
            const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
            if ((event->mask & (IN_DELETE_SELF | IN_IGNORED)) != 0) watching_ = false;
            at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
    }
    pause_ = kPauseFirst / 2;  // doubled right after
}

}  // namespace outrider::sqlite
