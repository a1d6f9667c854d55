#include "stores/postgres/store.h"

#include <algorithm>

#include "core/assert.h"
#include "stores/postgres/lane_moves.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/settler.h"
#include "stores/postgres/sql.h"
#include "stores/shared/texts.h"

namespace outrider::postgres {
namespace {

// A lane whose next floor is this far behind gets a new one before its next window is opened (299
// ms against 0.03 ms).
constexpr std::int64_t kFloorLagMax = 10'000;

// The next look may get other lanes, which have fallen behind, too.
constexpr int kRaisesMax = 3;

// To look whether somebody has ended takes as long as to look at so many numbers. Not more often
// than so: there are transactions that take hours.
constexpr std::int64_t kNumbersPerLook = 5'000;
constexpr std::int64_t kLooksMax = 50;

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
    Batch& batch
) {
    const ClaimQuery::Places places =
        query_.add(pipeline_, limits, share.first(), connection_.is_pooled());
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
    claim->locked = read_array(locked.bytes(0, 0)).size();
    Result<void> ours = check_owner(claim->locked, log);
    if (!ours) {
        roll_back();
        return ours.error();
    }
    ClaimReader reader(registered_.origin, destination_.order, filter_, limits, batch, *claim);
    reader.read_state(log);
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

Result<bool> PostgresStore::raise_floors(const Claim& claim) {
    ArrayText turns, firsts, lanes, delivered, floors;
    std::int64_t numbers = 0;
    for (const Window& window : claim.windows) {
        if (window.open || !window.work) continue;
        if (window.next_floor - window.known_floor <= kFloorLagMax) continue;
        const LaneTexts texts = texts_of(window.lanes);
        turns.add(window.origin.turn);
        firsts.add(window.origin.first);
        lanes.add(std::string_view(texts.lanes));
        delivered.add(std::string_view(texts.delivered));
        floors.add(window.next_floor);
        numbers = std::max(numbers, window.upper - window.passed.floor);
    }
    if (numbers == 0) return false;
    pipeline_.add(
        "settle_floor",
        names_.fill(sql::settle_floor),
        Parameters()
            .add(registered_.id)
            .add(claim.newest)
            .add(std::string_view(turns.text()))
            .add(std::string_view(firsts.text()))
            .add(std::string_view(lanes.text()))
            .add(std::string_view(delivered.text()))
            .add(std::string_view(floors.text()))
    );
    pipeline_.add("commit", "commit");
    turn_open_ = false;
    const Result<std::vector<Rows>> raised = pipeline_.finish();
    if (!raised) return raised.error();
    const Result<void> ended = let_end(raised->front(), numbers);
    if (!ended) return ended.error();
    return true;
}

Result<void> PostgresStore::let_end(const Rows& raised, std::int64_t numbers) {
    if (raised.count() == 0) return {};  // somebody else has moved them
    const Parameters ids = Parameters().add(raised.bytes(0, 0)).add(raised.bytes(0, 1));
    for (std::int64_t look = 0; look < std::min(numbers / kNumbersPerLook, kLooksMax); ++look) {
        const Result<Rows> unended = connection_.run(std::string(sql::floor_unended), ids);
        if (!unended) return unended.error();
        if (unended->count() == 0) return {};
    }
    return {};
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
    int raises = 0;
    for (int looks = 0; looks < 8; ++looks) {
        Batch batch;
        Result<std::unique_ptr<Claim>> claim =
            read(ClaimQuery::limits(asked, parked, share.lanes()), share, batch);
        if (!claim) return claim.error();
        if (!saw_all(**claim)) {
            roll_back();
            continue;
        }
        if (raises < kRaisesMax) {
            const Result<bool> raised = raise_floors(**claim);
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
    Settler(connection_, pipeline_, names_, registered_.id).add(batch, *turn.claim, settlements);
    pipeline_.add("commit", "commit");
    turn.over();
    turn_open_ = false;
    const Result<std::vector<Rows>> settled = pipeline_.finish();
    if (!next_segments_.empty()) query_.use_segments(next_segments_);
    if (settled) return {};
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
