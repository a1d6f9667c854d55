#include "stores/sqlite/logbook.h"

#include <vector>

#include "stores/sqlite/sql.h"

namespace outrider::sqlite {
namespace {

// Bytes of the lock file: destinations have the small ones, sessions those from here on.
constexpr std::int64_t kFirstByte = std::int64_t{1} << 40;

// A session as a positive number that is also a place in the lock file.
std::int64_t session_number(std::uint64_t session) {
    return kFirstByte + static_cast<std::int64_t>(session % (std::uint64_t{1} << 60));
}

}  // namespace

SqliteLogbook::SqliteLogbook(
    Connection connection,
    std::string path,
    std::string destination,
    std::int64_t session
)
    : connection_(std::move(connection)),
      path_(std::move(path)),
      name_(std::move(destination)),
      session_(session),
      lock_(path_, session) {
}

Result<std::unique_ptr<Logbook>> SqliteLogbook::open(
    const std::string& path,
    const std::string& destination,
    std::uint64_t session
) {
    Result<Connection> connection = Connection::open(path, Connection::Schema::needed);
    if (!connection) return connection.error();
    return std::unique_ptr<Logbook>(
        new SqliteLogbook(std::move(connection).value(), path, destination, session_number(session))
    );
}

Result<void> SqliteLogbook::find_destination() {
    Result<Statement> find = connection_.prepare(sql::find_destination);
    if (!find) return find.error();
    const Result<bool> row = find->bind(1, name_).step();
    if (!row) return row.error();
    if (!*row) return Error{Remedy::yield, "the destination was forgotten by the operator"};
    destination_ = find->integer(0);
    return {};
}

Result<void> SqliteLogbook::run(std::string_view sql, const std::function<void(Statement&)>& bind) {
    Result<Statement> statement = connection_.prepare(sql);
    if (!statement) return statement.error();
    bind(statement->bind(1, destination_));
    const Result<std::int64_t> done = statement->run();
    if (!done) return done.error();
    return {};
}

Result<void> SqliteLogbook::in_transaction(const std::function<Result<void>()>& work) {
    Result<Transaction> transaction = Transaction::begin(connection_, "begin immediate");
    if (!transaction) return transaction.error();
    if (Result<void> done = work(); !done) return done;
    return transaction->commit();
}

Result<Legacy> SqliteLogbook::enter() {
    if (Result<void> same = connection_.check_in_place(); !same) return same.error();
    const Result<bool> ours = lock_.take();
    if (!ours) return ours.error();
    if (!*ours) return Error{Remedy::wait, "another session has the same number"};
    Legacy legacy;
    const Result<void> entered = in_transaction([&]() -> Result<void> {
        if (Result<void> found = find_destination(); !found) return found;
        const Result<std::string> ended = remove_ended(legacy);
        if (!ended) return ended.error();
        if (Result<void> taken = take_over(*ended, legacy); !taken) return taken;
        return run(sql::logbook_enter, [this](Statement& s) { s.bind(2, session_); });
    });
    if (!entered) return entered.error();
    return legacy;
}

// Which sessions have ended, as a JSON array.
Result<std::string> SqliteLogbook::remove_ended(Legacy& legacy) {
    Result<Statement> others = connection_.prepare(sql::logbook_others);
    if (!others) return others.error();
    others->bind(1, destination_).bind(2, session_);
    std::vector<std::int64_t> ended;
    for (;;) {
        const Result<bool> row = others->step();
        if (!row) return row.error();
        if (!*row) break;
        const Result<bool> alive = DestinationLock(path_, others->integer(0)).is_taken_elsewhere();
        if (!alive) return alive.error();
        if (*alive) continue;
        ended.push_back(others->integer(0));
        legacy.unexplained = legacy.unexplained || others->integer(1) != 0;
    }
    std::string list;
    for (const std::int64_t session : ended) {
        const auto bind = [session](Statement& s) { s.bind(2, session); };
        if (Result<void> gone = run(sql::logbook_remove, bind); !gone) return gone.error();
        list += (list.empty() ? "" : ",") + std::to_string(session);
    }
    legacy.ended = static_cast<std::uint32_t>(ended.size());
    return "[" + list + "]";
}

Result<void> SqliteLogbook::take_over(const std::string& ended, Legacy& legacy) {
    Result<Statement> marks = connection_.prepare(sql::logbook_marks);
    if (!marks) return marks.error();
    marks->bind(1, destination_).bind(2, ended);
    for (;;) {
        const Result<bool> row = marks->step();
        if (!row) return row.error();
        if (!*row) break;
        const auto ends = static_cast<std::uint32_t>(marks->integer(1));
        legacy.marks.push_back({marks->integer(0), ends, marks->integer(2) != 0});
    }
    return run(sql::logbook_take_over, [&](Statement& s) { s.bind(2, ended).bind(3, session_); });
}

Result<void> SqliteLogbook::write(const Page& page) {
    return in_transaction([&] { return write_marks(page); });
}

Result<void> SqliteLogbook::write_marks(const Page& page) {
    for (const std::int64_t seq : page.erased) {
        const auto bind = [seq](Statement& s) { s.bind(2, seq); };
        if (Result<void> gone = run(sql::logbook_erase, bind); !gone) return gone;
    }
    for (const Mark& mark : page.marks) {
        const auto bind = [&](Statement& s) {
            s.bind(2, mark.seq).bind(3, std::int64_t{mark.ends});
            s.bind(4, mark.in_hand ? std::optional(session_) : std::nullopt);
        };
        if (Result<void> written = run(sql::logbook_mark, bind); !written) return written;
    }
    return run(sql::logbook_explain, [&](Statement& s) {
        s.bind(2, session_).bind(3, std::int64_t{page.unexplained});
    });
}

Result<void> SqliteLogbook::leave() {
    return in_transaction([this]() -> Result<void> {
        const auto bind = [this](Statement& s) { s.bind(2, session_); };
        if (Result<void> free = run(sql::logbook_let_go, bind); !free) return free;
        return run(sql::logbook_remove, bind);
    });
}

}  // namespace outrider::sqlite
