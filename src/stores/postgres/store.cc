#include "stores/postgres/store.h"

#include <algorithm>

#include "core/assert.h"
#include "stores/postgres/floors.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/settler.h"
#include "stores/postgres/sql.h"
#include "stores/shared/texts.h"

namespace outrider::postgres {
namespace {

// The next look may get other lanes, which have fallen behind, too.
constexpr int kRaisesMax = 3;

// Turns for which nobody asks again where others have moved our lanes: likely they go on.
constexpr int kDisturbedTurns = 16;

// For about so many turns a worker takes the same lanes.
constexpr std::uint64_t kTurnsOnLanes = 16;

}  // namespace

// Ends the transaction when a batch is dropped.
class PostgresStore::OpenTurn final : public Batch::Hold {
public:
    OpenTurn(PostgresStore& store, std::unique_ptr<Claim> claim_)
        : claim(std::move(claim_)),
          store_(&store) {}
    ~OpenTurn() override {
        if (store_ != nullptr) store_->roll_back();
    }
    OpenTurn(const OpenTurn&) = delete;
    OpenTurn& operator=(const OpenTurn&) = delete;

    // The transaction has ended.
    void over() { store_ = nullptr; }

    const std::unique_ptr<Claim> claim;

private:
    PostgresStore* store_;
};

Result<std::unique_ptr<Store>> PostgresStore::open(
    const StoreOptions& options,
    const Destination& destination,
    TopicLists& lists
) {
    Result<Names> names = Names::of(options.schema, options.now);
    if (!names) return names.error();
    Result<Connection> connection = Connection::open(options.conninfo);
    if (!connection) return connection.error();
    const Result<Registered> registered =
        register_destination(*connection, *names, destination, lists);
    if (!registered) return registered.error();
    std::unique_ptr<PostgresStore> store(new PostgresStore(
        std::move(connection).value(), std::move(names).value(), options, destination, *registered
    ));
    if (store->connection_.is_pooled()) return std::unique_ptr<Store>(std::move(store));
    const Result<void> set_up = store->query_.set_up(store->connection_);
    if (!set_up) return set_up.error();
    const Result<void> serves = store->show_itself();
    if (!serves) return serves.error();
    return std::unique_ptr<Store>(std::move(store));
}

// For whoever asks whether a relay runs: between turns it holds no lane. Waits for an operator who
// is about to find that out.
Result<void> PostgresStore::show_itself() const {
    const Result<Rows> shared = connection_.run(
        "select pg_advisory_lock_shared($1)", Parameters().add(serving_lock(names_, registered_.id))
    );
    if (!shared) return shared.error();
    return {};
}

PostgresStore::~PostgresStore() {
    OUTRIDER_ASSERT(!turn_open_);
}

void PostgresStore::roll_back() {
    turn_open_ = false;
    [[maybe_unused]] const Result<void> rolled_back = connection_.run_script("rollback");
}

Result<std::unique_ptr<Claim>> PostgresStore::read(
    const ClaimReader::Limits& limits,
    const LaneShare& share,
    const std::optional<KnownPlace>& place,
    Batch& batch
) {
    const ClaimQuery::Places places =
        query_.add(pipeline_, limits, share.first(), place, connection_.is_pooled());
    turn_open_ = true;
    Result<std::vector<Rows>> results = pipeline_.finish();
    if (!results) {
        roll_back();
        return results.error();
    }
    auto claim = std::make_unique<Claim>();
    claim->rows = std::move(results).value();
    const Rows& locked = claim->rows[places.lock];
    const Rows& log = claim->rows[places.log];
    if (locked.boolean(0, 1)) {
        roll_back();
        return Error{
            Remedy::wait,
            "the server is read-only (a standby, or default_transaction_read_only): it could hand "
            "out messages but never settle them"};
    }
    const std::vector<std::int64_t> lanes = read_array(locked.bytes(0, 0));
    claim->locked = lanes.size();
    if (!place) {
        Result<void> ours = check_owner(claim->locked, log);
        if (!ours) {
            roll_back();
            return ours.error();
        }
    }
    ClaimReader reader(registered_.origin, destination_.order, filter_, limits, batch, *claim);
    if (place) {
        reader.read_again(log, *place, lanes);
    } else {
        reader.read_state(log);
    }
    if (claim->windows.empty()) return claim;
    if (places.due > 0) reader.read_parked(claim->rows[places.due]);
    reader.read_log(log);
    if (connection_.keeps_any_bytes()) {
        for (Envelope& envelope : batch.envelopes) check_texts(envelope);
    }
    return claim;
}

// Lanes were free, but there is no cursor: an operator has forgotten the destination. Or somebody
// has started a relay with another list of topics: what it takes, we would pass over.
Result<void> PostgresStore::check_owner(std::size_t locked, const Rows& log) const {
    if (log.count() == 0) {
        if (locked == 0 || query_.is_limited()) return {};
        return Error{Remedy::yield, "the destination was forgotten by the operator"};
    }
    const std::string_view stored = log.bytes(0, kStoredTopics);
    if (stored.empty()) return {};
    return another_list(destination_, stored);
}

// A segment may have come in between, a row may be too large for its share, something may have been
// parked: the next look has a statement that sees it.
bool PostgresStore::saw_all(const Claim& claim) {
    if (query_.covers(claim.segments)) return query_.met(claim);
    query_.use_segments(claim.segments);
    return false;
}

// Where it began before: lanes that go together turn for turn stand at the same place, and are read
// in one go. Now and then elsewhere, so that no lane depends on one worker.
std::int64_t PostgresStore::first_lane() {
    const auto lanes = static_cast<std::uint64_t>(registered_.lanes);
    if (!first_lane_ || dice_.pick(kTurnsOnLanes) == 0) {
        first_lane_ = static_cast<std::int64_t>(dice_.pick(lanes));
    }
    return *first_lane_;
}

Result<Batch> PostgresStore::claim(const BatchLimits& asked) {
    OUTRIDER_ASSERT(!turn_open_);
    LaneShare share(
        destination_.order == Order::global ? 1 : registered_.lanes,
        static_cast<std::int64_t>(destination_.workers),
        first_lane()
    );
    const std::size_t parked = parked_share_.of(asked.messages);
    Result<std::optional<Batch>> again =
        claim_again(ClaimQuery::limits(asked, parked, share.lanes()), share);
    if (!again) return again.error();
    if (*again) return std::move(**again);
    int raises = 0;
    for (int looks = 0; looks < 8; ++looks) {
        Batch batch;
        Result<std::unique_ptr<Claim>> claim =
            read(ClaimQuery::limits(asked, parked, share.lanes()), share, std::nullopt, batch);
        if (!claim) return claim.error();
        if (!saw_all(**claim)) {
            roll_back();
            continue;
        }
        if (raises < kRaisesMax) {
            const Result<bool> raised =
                raise_floors(connection_, pipeline_, names_, registered_.id, **claim);
            if (!raised || *raised) turn_open_ = false;
            if (!raised) return raised.error();
            raises += *raised ? 1 : 0;
            if (*raised) continue;
        }
        if (has_work(**claim, batch)) {
            const bool beyond = !batch.envelopes.empty() && share.narrow(batch.envelopes[0].lane);
            if (!beyond) return hand_out(std::move(claim).value(), std::move(batch));
            roll_back();
            continue;
        }
        roll_back();
        // One that sleeps now must not lock, in its next turn, what its lanes have passed before.
        if (!(*claim)->segments.empty()) query_.use_segments((*claim)->segments);
        if ((*claim)->paused || !share.widen()) return nothing(**claim, std::move(batch));
    }
    return Error{Remedy::yield, "the log was rotated again and again during a claim"};
}

Result<std::optional<Batch>> PostgresStore::claim_again(
    const ClaimReader::Limits& limits,
    const LaneShare& share
) {
    const std::optional<KnownPlace> place = std::exchange(known_, std::nullopt);
    if (!place || !query_.may_be_told() || connection_.is_pooled()) return std::optional<Batch>();
    const bool has_all = static_cast<std::int64_t>(place->lanes.size()) == registered_.lanes;
    if (!has_all && share.first() != place->lanes.front().lane) return std::optional<Batch>();
    Batch batch;
    Result<std::unique_ptr<Claim>> claim = read(limits, share, place, batch);
    if (!claim) return claim.error();
    if ((*claim)->windows.empty()) disturbed_for_ = kDisturbedTurns;
    const bool whole = !(*claim)->windows.empty() && !(*claim)->windows.front().cut &&
                       !is_far_behind((*claim)->windows.front());
    if (whole && !batch.envelopes.empty() && query_.met(**claim)) {
        (*claim)->segments = next_segments_;
        return std::optional(hand_out(std::move(claim).value(), std::move(batch)));
    }
    roll_back();
    const bool none = whole && has_all && (*claim)->windows.front().rows == 0;
    return none ? std::optional(nothing(**claim, std::move(batch))) : std::nullopt;
}

void PostgresStore::remember_place(
    const Claim& claim,
    const LaneMoves& moves,
    std::span<const Rows> settled
) {
    disturbed_for_ = std::max(disturbed_for_ - 1, 0);
    if (disturbed_for_ > 0 || moves.size() != 1) return;
    // Behind the statement that moved the lanes come one for each other place, and the commit.
    const std::size_t others = moves.begin()->second.origins.size();
    const std::int64_t id = settled[settled.size() - 1 - others].integer(0, 0);
    known_ = place_after(moves, claim.locked, claim.newest, id);
}

Batch PostgresStore::nothing(const Claim& claim, Batch batch) {
    batch.held_elsewhere = claim.windows.empty();
    batch.paused = claim.paused;
    batch.full = false;
    batch.envelopes.clear();
    return batch;
}

// A lane without messages still moves on if its window has something to finish: later windows start
// there.
bool PostgresStore::has_work(const Claim& claim, const Batch& batch) {
    if (claim.paused) return false;
    const bool moves = std::any_of(claim.windows.begin(), claim.windows.end(), [](const Window& w) {
        return w.moves();
    });
    return moves || !batch.envelopes.empty();
}

Batch PostgresStore::hand_out(std::unique_ptr<Claim> claim, Batch batch) {
    next_segments_ = claim->segments;
    batch.passed = true;
    if (!claim->windows.empty()) batch.written = claim->windows.front().next_floor;
    batch.hold = std::make_unique<OpenTurn>(*this, std::move(claim));
    return batch;
}

Result<void> PostgresStore::settle(Batch batch, std::span<const Settlement> settlements) {
    auto& turn = dynamic_cast<OpenTurn&>(*batch.hold);
    const LaneMoves moves = moves_of(batch, *turn.claim, settlements);
    Settler(connection_, pipeline_, names_, registered_.id)
        .add(batch, *turn.claim, settlements, moves);
    pipeline_.add("commit", "commit");
    turn.over();
    turn_open_ = false;
    const Result<std::vector<Rows>> settled = pipeline_.finish();
    if (!next_segments_.empty()) query_.use_segments(next_segments_);
    if (settled) {
        remember_place(*turn.claim, moves, *settled);
        return {};
    }
    [[maybe_unused]] const Result<void> rolled_back = connection_.run_script("rollback");
    return settled.error();
}

Result<void> PostgresStore::try_writing() {
    const Result<Rows> written =
        connection_.run(names_.fill(sql::try_writing), Parameters().add(registered_.id));
    if (!written) return written.error();
    return {};
}

}  // namespace outrider::postgres
