#include <algorithm>
#include <exception>

#include "outrider/error.h"
#include "outrider/table.h"

#include "core/broker.h"
#include "core/dice.h"
#include "stores/table/store.h"

namespace outrider::table {
namespace {

// What PostgreSQL says of a text that is no value of the type it is meant for.
bool is_no_value(const Error& error) {
    constexpr std::string_view kStates[] = {"22P02", "22003", "22007", "22008"};
    return std::any_of(std::begin(kStates), std::end(kStates), [&](std::string_view state) {
        return error.native_code == postgres::native_code_of(state);
    });
}

}  // namespace

// A turn of one row, by hand: claim, publish, decide, settle.
class Dispatcher::Body {
public:
    Body(TablePlace place, Destination destination, std::shared_ptr<BrokerDriver> driver)
        : place_(std::move(place)),
          destination_(std::move(destination)),
          driver_(std::move(driver)),
          dice_(random_seed()) {}

    Dispatched dispatch(std::string_view id) {
        error.clear();
        const Result<Dispatched> outcome =
            connect() ? turn(id) : Result<Dispatched>(Dispatched::unknown);
        if (outcome) return *outcome;
        store_.reset();  // whatever it remembers is stale
        error = outcome.error().text;
        return is_no_value(outcome.error()) ? Dispatched::invalid : Dispatched::unknown;
    }

    std::string error;

private:
    bool connect() {
        if (!broker_) {
            Result<std::unique_ptr<Broker>> broker = driver_->open();
            if (!broker) return fail(broker.error());
            broker_ = std::move(broker).value();
        }
        if (!store_) {
            Result<std::unique_ptr<TableStore>> store =
                TableStore::open(place_, destination_, held_, TableStore::Scope::chosen);
            if (!store) return fail(store.error());
            store_ = std::move(store).value();
        }
        return true;
    }

    bool fail(const Error& reason) {
        error = reason.text;
        return false;
    }

    Result<Dispatched> turn(std::string_view id) {
        const Deadline deadline = clock_.now() + destination_.publish_deadline;
        store_->choose({std::string(id)});
        Result<Batch> batch = store_->claim({1, destination_.batch.bytes});
        if (!batch) return batch.error();
        if (batch->envelopes.empty()) {
            const Result<bool> pending = store_->is_pending(id);
            if (!pending) return pending.error();
            return *pending ? Dispatched::elsewhere : Dispatched::gone;
        }
        std::vector<Answer> answers(1);
        if (clock_.now() < deadline) broker_->publish(batch->envelopes, deadline, answers);
        return settle(std::move(batch).value(), answers.front());
    }

    Result<Dispatched> settle(Batch batch, const Answer& answer) {
        error = answer.reason;
        if (answer.verdict == Verdict::unanswered) return Dispatched::unknown;
        const std::vector<Settlement> settlements = {
            decide(batch.envelopes.front(), answer, destination_, batch.now, dice_)};
        const bool delivered = settlements.front().fate == Fate::done;
        if (Result<void> settled = store_->settle(std::move(batch), settlements); !settled) {
            return settled.error();
        }
        return delivered ? Dispatched::delivered : Dispatched::refused;
    }

    const TablePlace place_;
    const Destination destination_;
    const std::shared_ptr<BrokerDriver> driver_;
    const std::shared_ptr<Held> held_ = std::make_shared<Held>();
    SeededDice dice_;
    SystemClock clock_;
    std::unique_ptr<Broker> broker_;
    std::unique_ptr<TableStore> store_;
};

std::string_view to_string(Dispatched outcome) {
    switch (outcome) {
        case Dispatched::delivered:
            return "delivered";
        case Dispatched::elsewhere:
            return "elsewhere";
        case Dispatched::gone:
            return "gone";
        case Dispatched::refused:
            return "refused";
        case Dispatched::unknown:
            return "unknown";
        case Dispatched::invalid:
            return "invalid";
    }
    return "unknown";
}

Dispatcher::Dispatcher(
    const std::string& conninfo,
    const TableOptions& options,
    const Destination& destination,
    std::shared_ptr<BrokerDriver> broker
) {
    validate(destination);
    Result<Layout> layout = layout_of(options);
    if (!layout) throw Failure(layout.error());
    body_ = std::make_unique<Body>(
        TablePlace{conninfo, std::move(layout).value()}, destination, std::move(broker)
    );
}

Dispatcher::~Dispatcher() = default;

Dispatched Dispatcher::dispatch(std::string_view id) noexcept {
    try {
        return body_->dispatch(id);
    } catch (const std::exception& exception) {
        body_->error = exception.what();
        return Dispatched::unknown;
    }
}

const std::string& Dispatcher::error() const {
    return body_->error;
}

}  // namespace outrider::table
