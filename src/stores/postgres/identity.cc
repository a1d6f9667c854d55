#include "stores/postgres/identity.h"

#include "stores/postgres/registration.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"
#include "stores/shared/topic_list.h"

namespace outrider::postgres {
namespace {

struct Identity {
    bool same_cluster = false;
    bool same_database = false;
    bool same_timeline = false;
    std::int64_t old_timeline = 0;
    std::int64_t timeline = 0;
    bool standby = false;

    [[nodiscard]] bool is_ours() const { return same_cluster && same_database && same_timeline; }
};

Result<Identity> read_identity(const Connection& connection, const Names& names) {
    const Result<Rows> rows = connection.run(names.fill(sql::identity));
    if (!rows) return rows.error();
    if (rows->count() == 0) return Error{Remedy::call, "the log has lost its settings"};
    return Identity{
        rows->boolean(0, 0),
        rows->boolean(0, 1),
        rows->boolean(0, 2),
        rows->integer(0, 3),
        rows->is_null(0, 4) ? 0 : rows->integer(0, 4),
        rows->boolean(0, 5)};
}

std::string stranger(const Identity& identity) {
    if (!identity.same_cluster) {
        return "the log was written on another cluster (a restored dump, or pg_upgrade)";
    }
    if (!identity.same_database) return "the log was copied from another database";
    return "the server is on timeline " + std::to_string(identity.timeline) +
           " and the log was relayed on timeline " + std::to_string(identity.old_timeline) +
           " (a promoted standby or copy)";
}

// Takes over a log that was restored from a dump, inside a transaction in which nobody writes.
class Rebase {
public:
    Rebase(const Connection& connection, const Names& names)
        : connection_(connection),
          names_(names) {}

    // How many messages begin to wait.
    [[nodiscard]] Result<std::uint64_t> run() {
        if (Result<void> same = check_encoding(); !same) return same.error();
        if (Result<void> done = take(sql::adopt_registers); !done) return done.error();
        const Result<Rows> rows = connection_.run(names_.fill(
            "select id, topics::text, ordering, array(select c.lane from {schema}.cursor "
            "c where c.destination = d.id order by c.lane)::text from {schema}.destination d "
            "order by id"
        ));
        if (!rows) return rows.error();
        for (int row = 0; row < rows->count(); ++row) {
            if (Result<void> done = carry_over(*rows, row); !done) return done.error();
        }
        for (const std::string_view step :
             {sql::adopt_ids, sql::adopt_segments, sql::adopt_cursors}) {
            if (Result<void> done = take(step); !done) return done.error();
        }
        return carried_;
    }

private:
    [[nodiscard]] Result<void> take(std::string_view step) {
        const Result<Rows> done = connection_.run(names_.fill(step));
        if (!done) return done.error();
        return {};
    }

    // What was handled is known by lane, and the lane of such a key was another there.
    [[nodiscard]] Result<void> check_encoding() {
        const Result<Rows> other = connection_.run(names_.fill(sql::adopt_encoding));
        if (!other) return other.error();
        if (other->count() == 0) return {};
        const std::string encoding(other->bytes(0, 0));
        return Error{
            Remedy::correct,
            "the log was written in the encoding " + encoding +
                " and has topics or keys beyond ASCII, whose order would be lost here: restore it "
                "into a database with the encoding " +
                encoding + " and adopt it there"};
    }

    [[nodiscard]] Result<void> carry_over(const Rows& rows, int row) {
        const std::int64_t id = rows.integer(row, 0);
        const Result<bool> free = lock_all_lanes(connection_, names_, id);
        if (!free) return free.error();
        if (!*free) return Error{Remedy::yield, "a relay serves this log right now: stop it first"};
        const std::string patterns = like_patterns(read_topics(rows.bytes(row, 1)));
        for (const std::int64_t lane : read_array(rows.bytes(row, 3))) {
            const Parameters place = Parameters().add(id).add(lane);
            Parameters all = place;
            all.add(rows.bytes(row, 2)).add(std::string_view(patterns));
            const Result<Rows> parked = connection_.run(names_.fill(sql::adopt_park), all);
            if (!parked) return parked.error();
            carried_ += static_cast<std::uint64_t>(parked->changed());
            const Result<Rows> keys = connection_.run(names_.fill(sql::replay_keys), place);
            if (!keys) return keys.error();
        }
        return {};
    }

    const Connection& connection_;
    const Names& names_;
    std::uint64_t carried_ = 0;
};

Result<Adoption> adopt(
    const Connection& connection,
    const Names& names,
    std::optional<bool> follow_promotions
) {
    const Result<Identity> identity = read_identity(connection, names);
    if (!identity) return identity.error();
    if (identity->standby) {
        return Error{Remedy::correct, "the server is a standby: promote it first"};
    }
    Adoption adoption{.was_foreign = !identity->is_ours()};
    // A copy of the whole cluster has its ids, too: there is nothing to carry over.
    if (!identity->same_cluster || !identity->same_database) {
        const Result<std::uint64_t> carried = Rebase(connection, names).run();
        if (!carried) return carried.error();
        adoption.carried_over = *carried;
    }
    Parameters wish;
    follow_promotions ? wish.add(*follow_promotions) : wish.add_null();
    const Result<Rows> noted = connection.run(names.fill(sql::adopt_identity), wish);
    if (!noted) return noted.error();
    adoption.follows_promotions = noted->boolean(0, 0);
    return adoption;
}

}  // namespace

Result<void> check_identity(const Connection& connection, const Names& names) {
    const Result<Identity> identity = read_identity(connection, names);
    if (!identity) return identity.error();
    if (identity->is_ours() || identity->standby) return {};
    return Error{
        Remedy::correct,
        stranger(*identity) +
            ": make sure that nobody relays the original any more, then run 'outrider adopt' as "
            "the owner of the schema"};
}

Result<Adoption> adopt_log(
    const Connection& connection,
    const Names& names,
    std::optional<bool> follow_promotions
) {
    const Result<void> begun = connection.run_script(
        names.fill("begin isolation level read committed; set local lock_timeout = '10s'; "
                   "lock table {schema}.message in share row exclusive mode")
    );
    Result<Adoption> adopted =
        begun ? adopt(connection, names, follow_promotions) : Result<Adoption>(begun.error());
    if (adopted) {
        if (Result<void> done = connection.run_script("commit"); !done) return done.error();
        return adopted;
    }
    [[maybe_unused]] const Result<void> undone = connection.run_script("rollback");
    Error error = adopted.error();
    if (error.text.find("permission denied") != std::string::npos) {
        error.text += "; run 'outrider adopt' as the owner of the schema";
    }
    return error;
}

}  // namespace outrider::postgres
