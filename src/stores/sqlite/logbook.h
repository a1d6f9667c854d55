#pragma once

#include <functional>
#include <memory>

#include "core/logbook.h"
#include "stores/sqlite/connection.h"
#include "stores/sqlite/lock.h"

namespace outrider::sqlite {

// The logbook of a destination. That a session lives is known by a lock of the operating system on
// a byte of its own in the lock file: it goes with the process, however that ends, but for its
// children (see lock.h).
class SqliteLogbook final : public Logbook {
public:
    [[nodiscard]] static Result<std::unique_ptr<Logbook>> open(
        const std::string& path,
        const std::string& destination,
        std::uint64_t session
    );

    [[nodiscard]] Result<Legacy> enter() override;
    [[nodiscard]] Result<void> write(const Page& page) override;
    [[nodiscard]] Result<void> leave() override;

private:
    SqliteLogbook(
        Connection connection,
        std::string path,
        std::string destination,
        std::int64_t session
    );

    // An operator may have forgotten the destination, and a relay made it known again.
    [[nodiscard]] Result<void> find_destination();
    [[nodiscard]] Result<std::string> remove_ended(Legacy& legacy);
    [[nodiscard]] Result<void> take_over(const std::string& ended, Legacy& legacy);
    [[nodiscard]] Result<void> write_marks(const Page& page);
    [[nodiscard]] Result<void> in_transaction(const std::function<Result<void>()>& work);
    [[nodiscard]] Result<void> run(
        std::string_view sql,
        const std::function<void(Statement&)>& bind
    );

    Connection connection_;
    const std::string path_;
    const std::string name_;  // of the destination
    const std::int64_t session_;
    DestinationLock lock_;
    std::int64_t destination_ = 0;
};

}  // namespace outrider::sqlite
