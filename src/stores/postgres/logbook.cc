#include "stores/postgres/logbook.h"

#include "stores/postgres/sql.h"

namespace outrider::postgres {
namespace {

// The server has noticed the end of the logbook's connection; it notices those of the workers, who
// hold the lanes, at about the same time.
constexpr Duration kLag = std::chrono::seconds(5);

}  // namespace

Result<std::unique_ptr<Logbook>> PostgresLogbook::open(
    const StoreOptions& options,
    const std::string& destination,
    std::uint64_t session
) {
    Result<Names> names = Names::of(options.schema, options.now);
    if (!names) return names.error();
    Result<Connection> connection = Connection::open(options.conninfo);
    if (!connection) return connection.error();
    return std::unique_ptr<Logbook>(new PostgresLogbook(
        std::move(connection).value(), std::move(names).value(), destination, session
    ));
}

// The server notices a closed connection a little later than we close it. Whoever comes next must
// not take this session for alive.
PostgresLogbook::~PostgresLogbook() {
    if (connection_.is_pooled()) return;
    [[maybe_unused]] const Result<void> unlocked =
        connection_.run_script("select pg_advisory_unlock_all()");
}

Result<Rows> PostgresLogbook::run(std::string_view sql, const Parameters& parameters) {
    return connection_.run(names_.fill(sql), parameters);
}

Result<Legacy> PostgresLogbook::enter() {
    // A connection of ours that died may still hold it; then it is free when the server notices,
    // and the next one that enters goes carefully for nothing.
    if (!connection_.is_pooled()) {
        const Result<Rows> locked =
            connection_.run("select pg_try_advisory_lock($1)", Parameters().add(session_));
        if (!locked) return locked.error();
    }
    if (Result<void> begun = connection_.run_script("begin isolation level read committed"); !begun)
        return begun.error();
    Result<Legacy> legacy = inherit();
    Result<void> ended = connection_.run_script(legacy ? "commit" : "rollback");
    if (legacy && !ended) return ended.error();
    return legacy;
}

Result<Legacy> PostgresLogbook::inherit() {
    const Result<Rows> found =
        run(sql::logbook_find, Parameters().add(std::string_view(destination_)));
    if (!found) return found.error();
    if (found->count() == 0) {
        return Error{Remedy::yield, "the destination was forgotten by the operator"};
    }
    id_ = found->integer(0, 0);
    const Parameters us = Parameters().add(id_).add(session_);
    const Result<Rows> ended = run(sql::logbook_ended, us);
    if (!ended) return ended.error();
    Legacy legacy;
    legacy.ended = static_cast<std::uint32_t>(ended->integer(0, 0));
    legacy.unexplained = ended->boolean(0, 1);
    legacy.lag = kLag;
    const Parameters theirs = Parameters().add(id_).add(ended->bytes(0, 2));
    const Result<Rows> marks = run(sql::logbook_marks, theirs);
    if (!marks) return marks.error();
    for (int row = 0; row < marks->count(); ++row) {
        const auto ends = static_cast<std::uint32_t>(marks->integer(row, 1));
        legacy.marks.push_back({marks->integer(row, 0), ends, marks->boolean(row, 2)});
    }
    const Result<Rows> taken = run(sql::logbook_take_over, Parameters(theirs).add(session_));
    if (!taken) return taken.error();
    const Result<Rows> entered = run(sql::logbook_enter, us);
    if (!entered) return entered.error();
    return legacy;
}

Result<void> PostgresLogbook::write(const Page& page) {
    ArrayText erased;
    ArrayText seqs;
    ArrayText ends;
    ArrayText hands;
    for (const std::int64_t seq : page.erased) erased.add(seq);
    for (const Mark& mark : page.marks) {
        seqs.add(mark.seq);
        ends.add(std::int64_t{mark.ends});
        hands.add(mark.in_hand);
    }
    Parameters parameters = Parameters().add(id_).add(session_).add(page.unexplained);
    for (const ArrayText* array : {&erased, &seqs, &ends, &hands}) {
        parameters.add(std::string_view(array->text()));
    }
    const Result<Rows> written = run(sql::logbook_write, parameters);
    if (!written) return written.error();
    return {};
}

Result<void> PostgresLogbook::leave() {
    const Result<Rows> left = run(sql::logbook_leave, Parameters().add(id_).add(session_));
    if (!left) return left.error();
    return {};
}

}  // namespace outrider::postgres
