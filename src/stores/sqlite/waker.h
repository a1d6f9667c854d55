#pragma once

#include <optional>
#include <string>

#include "core/clock.h"
#include "core/descriptor.h"
#include "core/waker.h"
#include "stores/sqlite/connection.h"

namespace outrider::sqlite {

// Wakes up when any process has committed to the database. A watch on the WAL file says that
// something is being written; SQLite's data_version, which costs no file access, says that it was
// committed. Where there is no watch, a look at data_version with growing pauses is all there is.
// Wakes up also when the database was replaced by another, and watches that from then on.
class SqliteWaker final : public Waker {
public:
    explicit SqliteWaker(std::string path);

    void wait(MonoTime until) override;
    void ring() override;

private:
    [[nodiscard]] bool has_changed();
    [[nodiscard]] bool connect();
    void disconnect();
    void watch();

    // Sleeps until rung, until the file is written to, or until the moment. True: rung.
    [[nodiscard]] bool doze(MonoTime until);
    void drain_watch();

    const std::string path_;
    SystemClock clock_;
    Descriptor ring_;
    Descriptor watch_;
    bool watching_ = false;
    std::optional<Connection> connection_;
    Statement data_version_;
    std::int64_t seen_ = -1;
    Duration pause_;
    MonoTime woken_at_;
};

}  // namespace outrider::sqlite
