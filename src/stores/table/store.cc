#include "stores/table/store.h"

#include <algorithm>
#include <set>

#include "core/assert.h"
#include "stores/postgres/claim.h"
#include "stores/postgres/patience.h"
#include "stores/table/marks.h"
#include "stores/table/sql.h"

namespace outrider::table {
namespace {

using postgres::ArrayText;
using postgres::Connection;
using postgres::from_server_time;
using postgres::Parameters;
using postgres::Rows;

// Who changes the table may lock all of it for long. A relay that waits for that does not hear that
// it should stop, so it asks again instead.
constexpr Duration kLockPatience = std::chrono::seconds(2);

// Keys that are stuck are passed over and the look goes on behind them, at most this often a turn.
constexpr int kLooksMax = 16;

// Locks are a common good: the workers of a destination take at most an eighth of all there are.
constexpr std::int64_t kLocksShare = 8;
constexpr std::int64_t kKeysMin = 16;
constexpr std::int64_t kKeysMax = 2000;

// Where reviews are slow, for want of an index, they take at most this part of the time.
constexpr int kReviewRest = 20;

template <class Texts>
std::string array_of(const Texts& texts) {
    ArrayText array;
    for (const std::string& text : texts) array.add(std::string_view(text));
    return array.text();
}

void add_or_null(Parameters& parameters, const std::optional<std::string>& text) {
    if (text) {
        parameters.add(std::string_view(*text));
    } else {
        parameters.add_null();
    }
}

// Not Remedy::yield, whatever it was: the claim was not lost.
Error unwritten(const Error& error) {
    const Remedy remedy = error.remedy == Remedy::yield ? Remedy::correct : error.remedy;
    return {
        remedy,
        "what was delivered is settled, but the table does not take what is written for refused "
        "rows (attempts, error, due, status): " +
            error.text};
}

}  // namespace

// Ends the transaction when a batch is dropped.
class TableStore::OpenTurn final : public Batch::Hold {
public:
    OpenTurn(TableStore& store, std::unique_ptr<Claim> claim_)
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
    TableStore* store_;
};

// One claim under way.
struct TableStore::Look {
    BatchLimits limits;
    Held::Waiting waiting;
    Batch batch;
    std::unique_ptr<Claim> claim = std::make_unique<Claim>();
    std::size_t bytes = 0;
    std::optional<ClaimReader> reader;

    // Rows to pass over: those that wait, and those without a key that this claim has already.
    [[nodiscard]] std::vector<std::string> passed_ids() const {
        std::vector<std::string> ids = waiting.ids;
        for (std::size_t i = 0; i < batch.envelopes.size(); ++i) {
            if (batch.envelopes[i].key.empty()) ids.emplace_back(claim->places[i].id);
        }
        return ids;
    }

    [[nodiscard]] std::int64_t bytes_left() const {
        return static_cast<std::int64_t>(limits.bytes > bytes ? limits.bytes - bytes : 1);
    }
};

TableStore::TableStore(
    Connection connection,
    Wording wording,
    const TablePlace& place,
    Destination destination,
    std::shared_ptr<Held> held,
    Scope scope
)
    : connection_(std::move(connection)),
      wording_(std::move(wording)),
      durable_(place.durable),
      destination_(std::move(destination)),
      held_(std::move(held)),
      memory_(wording_, destination_, *held_),
      pipeline_(connection_),
      scope_(scope),
      statements_(wording_, destination_, scope == Scope::chosen) {
}

Result<std::unique_ptr<TableStore>> TableStore::open(
    const TablePlace& place,
    const Destination& destination,
    std::shared_ptr<Held> held,
    Scope scope
) {
    Result<Connection> connection = Connection::open(place.conninfo, Connection::Path::user);
    if (!connection) return connection.error();
    const Result<Facts> facts = find_facts(*connection, place.layout);
    if (!facts) return facts.error();
    std::unique_ptr<TableStore> store(new TableStore(
        std::move(connection).value(),
        Wording(place.layout, *facts),
        place,
        destination,
        std::move(held),
        scope
    ));
    if (Result<void> announced = store->announce(); !announced) return announced.error();
    return store;
}

TableStore::~TableStore() {
    OUTRIDER_ASSERT(!turn_open_);
}

// For status: somebody relays this table. Behind a pooler a session's lock would be nobody's.
Result<void> TableStore::announce() {
    if (connection_.is_pooled() || scope_ == Scope::chosen) return {};
    const Result<Rows> held = connection_.run(
        "select pg_advisory_lock_shared($1)", Parameters().add(wording_.presence(destination_.name))
    );
    if (!held) return held.error();
    return {};
}

void TableStore::roll_back() {
    turn_open_ = false;
    [[maybe_unused]] const Result<void> rolled_back = connection_.run_script("rollback");
}

Result<Rows> TableStore::look_up(const std::vector<std::string>& ids) {
    add_begin();
    pipeline_.add("review", statements_.review, Parameters().add(std::string_view(array_of(ids))));
    Result<std::vector<Rows>> results = pipeline_.finish();
    roll_back();
    if (!results) return results.error();
    return std::move(results->back());
}

Result<void> TableStore::review() {
    const MonoTime start = clock_.now();
    const std::vector<std::string> ids = held_->to_review(start);
    if (ids.empty()) return {};
    const Result<Rows> rows = look_up(ids);
    if (!rows) return rows.error();
    const MonoTime now = clock_.now();
    std::set<std::string_view> there;
    for (int row = 0; row < rows->count(); ++row) {
        const std::string_view id = rows->bytes(row, 0);
        there.insert(id);
        MonoTime until = now;
        if (!rows->is_null(row, 1)) {
            until +=
                from_server_time(rows->integer(row, 1)) - from_server_time(rows->integer(row, 3));
        }
        held_->put_off(id, rows->boolean(row, 2) ? now + kHoldingLook : until);
    }
    for (const std::string& id : ids) {
        if (!there.contains(id)) held_->release(id);
    }
    held_->rest_until(now + (now - start) * kReviewRest);
    return {};
}

void TableStore::add_begin() {
    pipeline_.add("begin", "begin isolation level read committed");
    pipeline_.add(
        "claim_settings",
        std::string(sql::claim_settings),
        Parameters()
            .add(std::string_view(postgres::freeze_patience(destination_)))
            .add(std::string_view(durable_ ? "on" : "off"))
            .add(std::string_view(postgres::setting_of(kLockPatience)))
    );
    turn_open_ = true;
}

void TableStore::add_chosen(Parameters& parameters) const {
    if (scope_ == Scope::all) {
        parameters.add_null();
    } else {
        parameters.add(std::string_view(array_of(chosen_)));
    }
}

Result<Batch> TableStore::claim(const BatchLimits& limits) {
    OUTRIDER_ASSERT(!turn_open_);
    if (Result<void> reviewed = review(); !reviewed) return reviewed.error();
    Look look;
    look.limits = limits;
    look.waiting = held_->waiting(clock_.now());
    look.batch.now = clock_.wall();
    look.batch.keys_cross_topics = destination_.order == Order::key;
    look.reader.emplace(destination_, limits, *held_, look.batch, *look.claim);
    if (scope_ == Scope::chosen) look.reader->choose(chosen_);
    if (Result<void> looked = this->look(look); !looked) {
        roll_back();
        return looked.error();
    }
    return finish(look);
}

Result<void> TableStore::look(Look& look) {
    const bool no_keys = destination_.order == Order::key && wording_.layout().key.empty();
    if (destination_.order == Order::none || no_keys) return look_free(look);
    if (destination_.order == Order::global) return look_everything(look);
    return look_keys(look);
}

Result<Batch> TableStore::finish(Look& look) {
    Batch batch = std::move(look.batch);
    if (const auto next = held_->waiting(clock_.now()).next) {
        batch.next_due = batch.now + (*next - clock_.now());
    }
    if (!batch.envelopes.empty()) {
        batch.hold = std::make_unique<OpenTurn>(*this, std::move(look.claim));
        return batch;
    }
    if (turn_open_) roll_back();
    batch.full = false;  // all that was seen is stuck: looking again at once would not help
    batch.held_elsewhere = look.claim->key_elsewhere;
    return batch;
}

Result<void> TableStore::look_free(Look& look) {
    add_begin();
    const auto messages = static_cast<std::int64_t>(look.limits.messages);
    Parameters parameters;
    parameters.add(messages).add(look.bytes_left());
    parameters.add(std::string_view(array_of(look.waiting.ids)));
    add_chosen(parameters);
    pipeline_.add("claim_free", statements_.free, parameters);
    Result<std::vector<Rows>> results = pipeline_.finish();
    if (!results) return results.error();
    if (results->back().count() == messages) look.batch.full = true;
    look.reader->read(std::move(results->back()), clock_.now(), next_seq_);
    next_seq_ += static_cast<std::int64_t>(look.batch.envelopes.size());
    return {};
}

// One lock for the whole table, and one row that waits stops everything behind it.
Result<void> TableStore::look_everything(Look& look) {
    if (blocks(destination_) && !look.waiting.ids.empty()) return {};
    add_begin();
    pipeline_.add("claim_lock", statements_.lock);
    const Result<std::vector<Rows>> locked = pipeline_.finish();
    if (!locked) return locked.error();
    look.claim->key_elsewhere = !locked->back().boolean(0, 0);
    if (look.claim->key_elsewhere) return {};
    return read_rows(look, Heads{});
}

Result<void> TableStore::look_keys(Look& look) {
    for (int looks = 0; looks < kLooksMax; ++looks) {
        if (looks == 0) add_begin();
        const Result<Heads> heads = lock_heads(look);
        if (!heads) return heads.error();
        if (Result<void> read = read_rows(look, *heads); !read) return read;
        if (looks == 0) fit_window(look);
        const bool enough = look.batch.envelopes.size() * 2 >= look.limits.messages;
        if (heads->cut) look.batch.full = true;
        if (!heads->cut || enough || look.bytes_left() == 1) return {};
    }
    return {};
}

// Where most rows have keys of their own, a wide look reads many times what its locks can take.
void TableStore::fit_window(const Look& look) {
    const auto messages = static_cast<std::int64_t>(look.limits.messages);
    const auto taken = static_cast<std::int64_t>(look.batch.envelopes.size());
    const std::int64_t looked = std::min(messages, window_);
    if (taken > 0 && taken * 4 < looked) window_ = std::max(looked / 2, kWindowMin);
    if (taken == 0 || taken * 2 > looked) window_ = std::min(looked * 2, kWindowMax);
}

Result<TableStore::Heads> TableStore::lock_heads(Look& look) {
    const auto workers = static_cast<std::int64_t>(destination_.workers);
    const std::int64_t share = wording_.facts().locks / kLocksShare / workers;
    const std::int64_t keys = std::clamp(share, kKeysMin, kKeysMax);
    const std::int64_t rows = std::min(static_cast<std::int64_t>(look.limits.messages), window_);
    std::vector<std::string> passed = blocks(destination_) ? look.waiting.keys : decltype(passed){};
    passed.insert(passed.end(), look.claim->keys.begin(), look.claim->keys.end());
    Parameters parameters;
    parameters.add(rows).add(keys).add(std::string_view(array_of(passed)));
    parameters.add(std::string_view(array_of(look.waiting.ids)));
    add_chosen(parameters);
    pipeline_.add("claim_heads", statements_.heads, parameters);
    const Result<std::vector<Rows>> results = pipeline_.finish();
    if (!results) return results.error();
    const Rows& found = results->back();
    Heads heads;
    for (int row = 0; row < found.count(); ++row) {
        std::string key(found.bytes(row, 0));
        look.claim->keys.insert(key);
        if (found.boolean(row, 1)) {
            heads.locked.push_back(std::move(key));
        } else {
            look.claim->key_elsewhere = true;
        }
        heads.cut = found.count() == keys || found.integer(row, 2) == rows;
        if (!found.is_null(row, 3)) heads.created = found.bytes(row, 3);
        heads.id = found.bytes(row, 4);
    }
    return heads;
}

// Where the look for keys was cut, rows are read up to there and no further: behind it lie keys
// that nobody has looked at, perhaps very many. Where it was not, a bound would only keep rows
// without a key behind a keyed one that is stuck.
Result<void> TableStore::read_rows(Look& look, const Heads& heads) {
    const bool knows_end = heads.id && (heads.created || wording_.layout().created.empty());
    const bool has_bound = heads.cut && knows_end;
    Parameters parameters;
    parameters.add(static_cast<std::int64_t>(look.limits.messages)).add(look.bytes_left());
    parameters.add(std::string_view(array_of(heads.locked)));
    add_or_null(parameters, has_bound ? heads.created : std::nullopt);
    add_or_null(parameters, has_bound ? heads.id : std::nullopt);
    parameters.add(std::string_view(array_of(look.passed_ids())));
    if (destination_.order == Order::key) add_chosen(parameters);
    pipeline_.add(
        has_bound ? "claim_bounded" : "claim_rows",
        has_bound ? statements_.bounded : statements_.rows,
        parameters
    );
    Result<std::vector<Rows>> results = pipeline_.finish();
    if (!results) return results.error();
    Rows& rows = results->back();
    if (rows.count() == static_cast<int>(look.limits.messages)) look.batch.full = true;
    const std::size_t before = look.batch.envelopes.size();
    look.bytes += look.reader->read(std::move(rows), clock_.now(), next_seq_);
    next_seq_ += static_cast<std::int64_t>(look.batch.envelopes.size() - before);
    return {};
}

Settler TableStore::settler() {
    return {connection_, pipeline_, statements_, wording_, destination_};
}

Result<void> TableStore::settle(Batch batch, std::span<const Settlement> settlements) {
    auto& turn = dynamic_cast<OpenTurn&>(*batch.hold);
    turn.over();
    turn_open_ = false;
    if (held_->is_careful()) pipeline_.add("settle_claim", kBeforeMarks);
    const Result<std::optional<Error>> written = write(batch, *turn.claim, settlements);
    if (written && !*written) return {};
    if (written) return unwritten(**written);
    Result<void> settled = written.error();
    if (is_refusal(written.error())) {
        settled = set_aside(batch, *turn.claim, settlements, written.error());
    }
    [[maybe_unused]] const Result<void> rolled_back = connection_.run_script("rollback");
    return settled;
}

Result<std::optional<Error>> TableStore::write(
    const Batch& batch,
    const Claim& claim,
    std::span<const Settlement> settlements
) {
    Settler settler = this->settler();
    settler.add(claim, settlements, held_->is_careful());
    pipeline_.add("commit", "commit");
    const Result<std::vector<Rows>> settled = pipeline_.finish();
    if (!settled && !settler.keep_done()) return settled.error();
    memory_.settled(batch, claim, settlements, settled.has_value());
    return settled ? std::nullopt : std::optional(settled.error());
}

// Every settle behind a savepoint would cost a multixact: rows are locked by the transaction and
// changed by a part of it. So that is only for tables that have refused a mark, and the first time
// costs a repeat of the batch.
Result<void> TableStore::set_aside(
    const Batch& batch,
    const Claim& claim,
    std::span<const Settlement> settlements,
    const Error& why
) {
    if (!held_->is_careful()) {
        held_->be_careful();
        return unmarked_batch(why);
    }
    const auto refused = MarkSearch(connection_, pipeline_, settler(), claim).run(settlements);
    if (!refused || refused->empty()) return unmarked_batch(why);
    const auto rest = without(*refused, batch, settlements, destination_);
    if (!write(batch, claim, rest)) return unmarked_batch(why);
    memory_.unmarked(batch, claim, *refused);
    return unmarked_rows(*refused, claim, settlements, why);
}

Result<bool> TableStore::is_pending(std::string_view id) const {
    const std::string sql = wording_.fill(
        "select exists (select from {table} t where {id} = $1::{id_type} and {alive} and {wanted})",
        destination_
    );
    const Result<Rows> found = connection_.run(sql, Parameters().add(id));
    if (!found) return found.error();
    return found->boolean(0, 0);
}

}  // namespace outrider::table
