#include "stores/postgres/store.h"

#include <algorithm>

#include "core/assert.h"
#include "stores/postgres/registration.h"
#include "stores/postgres/settler.h"
#include "stores/postgres/sql.h"
#include "stores/postgres/status.h"

namespace outrider::postgres {
namespace {

// A session that is idle in its transaction for longer than the broker may take has been frozen:
// its lanes are freed by the server this much later.
constexpr Duration kFreezeMargin = std::chrono::seconds(5);

constexpr std::int64_t kRowsPerLaneMin = 64;

// A lane whose next floor is this far behind gets a new one before its next window is opened (299
// ms against 0.03 ms).
constexpr std::int64_t kFloorLagMax = 10'000;

std::string millis(Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

void unite(std::string& all, const std::string& branch) {
    all += all.empty() ? branch : " union all " + branch;
}

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
    std::unique_ptr<PostgresStore> store(new PostgresStore(
        std::move(connection).value(), std::move(names).value(), options, destination
    ));
    if (Result<void> ready = store->prepare(lists); !ready) return ready.error();
    return std::unique_ptr<Store>(std::move(store));
}

PostgresStore::~PostgresStore() {
    OUTRIDER_ASSERT(!turn_open_);
}

Result<void> PostgresStore::prepare(TopicLists& lists) {
    const Result<Registered> registered =
        register_destination(connection_, names_, destination_, lists);
    if (!registered) return registered.error();
    id_ = registered->id;
    lanes_ = registered->lanes;
    for (const std::string& topic : destination_.topics) takes_all_ = takes_all_ || topic == "*";
    patterns_ = like_patterns(destination_.topics);
    topics_ = topics_json(destination_.topics);
    return {};
}

void PostgresStore::roll_back() {
    turn_open_ = false;
    [[maybe_unused]] const Result<void> rolled_back = connection_.run_script("rollback");
}

// One branch per segment that may hold something: a turn keeps a lock on every segment it names
// until it commits, and a truncation has to wait for that.
std::string PostgresStore::claim_sql() const {
    const bool global = destination_.order == Order::global;
    std::string late;
    std::string late_lanes;
    std::string range;
    for (const int segment : segments_) {
        const auto branch = [&](std::string_view sql, std::string_view lane) {
            return Names::fill(Names::fill(sql, "segment", std::to_string(segment)), "lane", lane);
        };
        unite(late_lanes, branch(sql::claim_late_lanes, ""));
        unite(
            late,
            branch(sql::claim_late, global ? "true" : "{schema}.lane_of(m.key, m.seq) = w.lane")
        );
        const std::string one = branch(sql::claim_range, global ? "a.lane" : "w.lane");
        unite(
            range,
            !global ? one
                    : "(select r.* from generate_series(0, " + std::to_string(lanes_ - 1) +
                          ") as a(lane) cross join lateral " + one + " r order by seq limit $2)"
        );
    }
    const std::string with_lanes = Names::fill(sql::claim_log, "late_lanes", late_lanes);
    const std::string with_late = Names::fill(with_lanes, "late", late);
    return names_.fill(Names::fill(with_late, "range", range));
}

void PostgresStore::add_claim(const ClaimReader::Limits& limits, std::int64_t bytes) {
    const bool global = destination_.order == Order::global;
    const std::int64_t lanes = global ? 1 : lanes_;
    ArrayText locks;
    ArrayText numbers;
    const auto first = static_cast<std::int64_t>(dice_.pick(static_cast<std::uint64_t>(lanes)));
    for (std::int64_t i = 0; i < lanes; ++i) {
        const std::int64_t lane = (first + i) % lanes;
        locks.add(lane_lock(names_, id_, lane));
        numbers.add(lane);
    }
    const Duration patience = destination_.publish_deadline + kFreezeMargin;
    pipeline_.add("begin", "begin isolation level read committed");
    pipeline_.add(
        "claim_settings",
        std::string(sql::claim_settings),
        Parameters()
            .add(std::string_view(millis(patience)))
            .add(std::string_view(options_.settle == Settle::fast ? "off" : "on"))
            .add(std::string_view(millis(patience)))
    );
    pipeline_.add(
        "claim_lock",
        std::string(sql::claim_lock),
        Parameters()
            .add(std::string_view(locks.text()))
            .add(std::string_view(numbers.text()))
            .add(limits.lanes)
    );
    pipeline_.add(
        "claim_due",
        names_.fill(sql::claim_due),
        Parameters().add(id_).add(limits.parked).add(limits.parked_rows).add(bytes / 2)
    );
    pipeline_.add(
        "claim_log_" + segments_name_,
        log_sql_,
        Parameters()
            .add(id_)
            .add(limits.rows_per_lane)
            .add(std::string_view(patterns_))
            .add(std::max<std::int64_t>(bytes / limits.lanes, 1))
            .add(global)
            .add(std::string_view(topics_))
            .add(takes_all_)
    );
    pipeline_.add("claim_end", std::string(sql::claim_end));
}

void PostgresStore::use_segments(std::set<int> segments) {
    if (segments == segments_) return;
    segments_ = std::move(segments);
    segments_name_.clear();
    for (const int segment : segments_) segments_name_ += std::to_string(segment);
    log_sql_ = claim_sql();
}

Result<std::unique_ptr<Claim>> PostgresStore::read(
    const ClaimReader::Limits& limits,
    const BatchLimits& asked,
    Batch& batch
) {
    add_claim(limits, static_cast<std::int64_t>(asked.bytes));
    turn_open_ = true;
    Result<std::vector<Rows>> results = pipeline_.finish();
    if (!results) {
        roll_back();
        return results.error();
    }
    auto claim = std::make_unique<Claim>();
    claim->rows = std::move(results).value();
    constexpr std::size_t kLock = 2;
    constexpr std::size_t kDue = 3;
    constexpr std::size_t kLog = 4;
    if (claim->rows[kLock].boolean(0, 1)) {
        roll_back();
        return Error{
            Remedy::wait,
            "the server is a standby: it could hand out messages but never settle them"};
    }
    Result<void> ours = check_owner(claim->rows[kLock], claim->rows[kLog]);
    if (!ours) {
        roll_back();
        return ours.error();
    }
    ClaimReader reader(destination_.order, filter_, limits, batch, *claim);
    reader.read_state(claim->rows[kLog]);
    reader.read_parked(claim->rows[kDue]);
    reader.read_log(claim->rows[kLog]);
    return claim;
}

// Lanes were free, but there is no cursor: an operator has forgotten the destination. Or somebody
// has started a relay with another list of topics: what it takes, we would pass over.
Result<void> PostgresStore::check_owner(const Rows& locked, const Rows& log) const {
    if (log.count() == 0) {
        if (locked.bytes(0, 0) == "{}") return {};
        return Error{Remedy::yield, "the destination was forgotten by the operator"};
    }
    const std::string_view stored = log.bytes(0, kStoredTopics);
    if (stored.empty()) return {};
    return another_list(destination_, stored);
}

Result<bool> PostgresStore::raise_floors(const Claim& claim) {
    ArrayText lanes;
    ArrayText turns;
    ArrayText floors;
    bool any = false;
    for (const LaneWindow& window : claim.windows) {
        if (window.open || !window.work) continue;
        if (window.next_floor - window.known_floor <= kFloorLagMax) continue;
        lanes.add(std::int64_t{window.lane});
        turns.add(window.turn);
        floors.add(window.next_floor);
        any = true;
    }
    if (!any) return false;
    pipeline_.add(
        "settle_floor",
        names_.fill(sql::settle_floor),
        Parameters()
            .add(id_)
            .add(std::string_view(lanes.text()))
            .add(std::string_view(turns.text()))
            .add(std::string_view(floors.text()))
    );
    pipeline_.add("commit", "commit");
    turn_open_ = false;
    const Result<std::vector<Rows>> raised = pipeline_.finish();
    if (!raised) return raised.error();
    return true;
}

ClaimReader::Limits PostgresStore::limits_for(const BatchLimits& asked, std::int64_t lanes) {
    const auto messages = static_cast<std::int64_t>(asked.messages);
    ClaimReader::Limits limits;
    limits.lanes = lanes;
    limits.messages = messages;
    limits.parked = std::max<std::int64_t>(messages / 2, 1);
    limits.parked_rows = limits.parked * 2;
    // A lane may have all there is: a small batch is not cut into sixteen parts.
    limits.rows_per_lane = std::max(messages / lanes, std::min(messages, kRowsPerLaneMin));
    return limits;
}

Result<Batch> PostgresStore::claim(const BatchLimits& asked) {
    OUTRIDER_ASSERT(!turn_open_);
    if (segments_.empty()) use_segments({1});
    const std::int64_t all = destination_.order == Order::global ? 1 : lanes_;
    const auto workers = static_cast<std::int64_t>(destination_.workers);
    std::int64_t lanes = (all + workers - 1) / workers;
    bool raised = false;
    // A segment may come in between, a floor may have to be raised, and whoever rang may have meant
    // other lanes than our share: each makes one more look necessary.
    for (int looks = 0; looks < 8; ++looks) {
        Batch batch;
        Result<std::unique_ptr<Claim>> claim = read(limits_for(asked, lanes), asked, batch);
        if (!claim) return claim.error();
        const std::set<int>& needed = (*claim)->segments;
        if (!std::includes(segments_.begin(), segments_.end(), needed.begin(), needed.end())) {
            roll_back();
            use_segments(needed);
            continue;
        }
        if (!raised) {
            const Result<bool> floors = raise_floors(**claim);
            if (!floors) return floors.error();
            raised = *floors;
            if (raised) continue;
        }
        if (has_work(**claim, batch)) return hand_out(std::move(claim).value(), std::move(batch));
        roll_back();
        // One that sleeps now must not lock, in its next turn, what its lanes have passed before.
        if (!needed.empty()) use_segments(needed);
        batch.held_elsewhere = (*claim)->windows.empty();
        batch.paused = (*claim)->paused;
        batch.full = false;
        batch.envelopes.clear();
        if (lanes == all || batch.paused) return batch;
        lanes = all;
    }
    return Error{Remedy::yield, "the log was rotated again and again during a claim"};
}

// A lane without messages still moves on if its window has something to finish: later windows start
// there.
bool PostgresStore::has_work(const Claim& claim, const Batch& batch) {
    if (claim.paused) return false;
    const bool moves = std::any_of(
        claim.windows.begin(), claim.windows.end(), [](const LaneWindow& w) { return w.moves; }
    );
    return moves || !batch.envelopes.empty();
}

Batch PostgresStore::hand_out(std::unique_ptr<Claim> claim, Batch batch) {
    next_segments_ = claim->segments;
    batch.passed = true;
    batch.hold = std::make_unique<OpenTurn>(*this, std::move(claim));
    return batch;
}

Result<void> PostgresStore::settle(Batch batch, std::span<const Settlement> settlements) {
    auto& turn = dynamic_cast<OpenTurn&>(*batch.hold);
    Settler(pipeline_, names_, id_).add(batch, *turn.claim, settlements);
    pipeline_.add("commit", "commit");
    turn.over();
    turn_open_ = false;
    const Result<std::vector<Rows>> settled = pipeline_.finish();
    if (!next_segments_.empty()) use_segments(next_segments_);
    if (settled) return {};
    [[maybe_unused]] const Result<void> rolled_back = connection_.run_script("rollback");
    return settled.error();
}

}  // namespace outrider::postgres
