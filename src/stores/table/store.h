#pragma once

#include <memory>

#include "core/clock.h"
#include "core/store.h"
#include "stores/postgres/pipeline.h"
#include "stores/table/claim.h"
#include "stores/table/memory.h"
#include "stores/table/settler.h"
#include "stores/table/statements.h"
#include "stores/table/wording.h"

namespace outrider::table {

// A table, and how to reach it.
struct TablePlace {
    std::string conninfo;  // may contain a password, so it is never shown
    Layout layout;
    bool durable = false;  // a settle returns when it is on disk
};

// A store for one destination of an application's own outbox table. A claim opens a transaction and
// locks rows in it, FOR UPDATE SKIP LOCKED; the transaction stays open while the broker answers;
// the settle writes and commits. A batch that is dropped rolls back.
//
// With an order per key the key is locked first, by an advisory lock that ends with the
// transaction, and its rows are read after that, in a statement of their own: whoever had the key
// before has committed by then. A row that somebody else holds, that is not due or that waits for
// another try holds back its key.
class TableStore final : public Store {
public:
    enum class Scope : std::uint8_t {
        all,
        chosen,  // only rows that were chosen by id
    };

    [[nodiscard]] static Result<std::unique_ptr<TableStore>> open(
        const TablePlace& place,
        const Destination& destination,
        std::shared_ptr<Held> held,
        Scope scope = Scope::all
    );

    ~TableStore() override;
    TableStore(const TableStore&) = delete;
    TableStore& operator=(const TableStore&) = delete;

    [[nodiscard]] Result<Batch> claim(const BatchLimits& limits) override;

    // What was delivered is settled even where what was refused cannot be written: then the error
    // says so, and the refused rows are remembered as if the table had no place for them.
    //
    // Where the table refuses the mark of a delivered row (a trigger, a rule, a policy, a check),
    // everything is undone the first time. From then on batches are settled behind a savepoint: the
    // rows that are to blame are found and remembered, the others settled, and the error says so.
    [[nodiscard]] Result<void> settle(Batch batch, std::span<const Settlement> settlements)
        override;

    // Scope::chosen: from now on these rows are claimed, and nothing else.
    void choose(std::vector<std::string> ids) { chosen_ = std::move(ids); }

    // Whether a row with this id is waiting to be delivered.
    [[nodiscard]] Result<bool> is_pending(std::string_view id) const;

private:
    static constexpr std::int64_t kWindowMin = 256;
    static constexpr std::int64_t kWindowMax = 1'000'000;

    class OpenTurn;
    struct Look;

    TableStore(
        postgres::Connection connection,
        Wording wording,
        const TablePlace& place,
        Destination destination,
        std::shared_ptr<Held> held,
        Scope scope
    );

    [[nodiscard]] Result<void> announce();
    [[nodiscard]] Result<void> review();

    // The answer of review.sql, in a transaction of its own for its settings.
    [[nodiscard]] Result<postgres::Rows> look_up(const std::vector<std::string>& ids);
    void add_begin();
    [[nodiscard]] Result<Batch> finish(Look& look);
    [[nodiscard]] Result<void> look(Look& look);
    [[nodiscard]] Result<void> look_free(Look& look);
    [[nodiscard]] Result<void> look_everything(Look& look);
    [[nodiscard]] Result<void> look_keys(Look& look);

    // Which keys are ours. Nothing: no key has anything to do.
    struct Heads {
        std::vector<std::string> locked;
        std::optional<std::string> created;  // where the look ended
        std::optional<std::string> id;
        bool cut = false;  // there may be more
    };
    [[nodiscard]] Result<Heads> lock_heads(Look& look);
    void fit_window(const Look& look);
    [[nodiscard]] Result<void> read_rows(Look& look, const Heads& heads);
    void add_chosen(postgres::Parameters& parameters) const;
    [[nodiscard]] Settler settler();

    // Writes and commits. The value: what could not be written of the refused rows, if anything.
    // An error: nothing was written, and the transaction has failed.
    [[nodiscard]] Result<std::optional<Error>> write(
        const Batch& batch,
        const Claim& claim,
        std::span<const Settlement> settlements
    );

    // Settles what the table lets us settle, after `why`.
    [[nodiscard]] Result<void> set_aside(
        const Batch& batch,
        const Claim& claim,
        std::span<const Settlement> settlements,
        const Error& why
    );
    void roll_back();

    postgres::Connection connection_;
    const Wording wording_;
    const bool durable_;
    const Destination destination_;
    const std::shared_ptr<Held> held_;
    Memory memory_;
    postgres::Pipeline pipeline_;
    SystemClock clock_;
    const Scope scope_;
    const Statements statements_;
    std::vector<std::string> chosen_;
    std::int64_t next_seq_ = 1;
    std::int64_t window_ = kWindowMax;  // how many rows a look for keys reads, at most
    bool turn_open_ = false;
};

}  // namespace outrider::table
