#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "outrider/time.h"
#include "outrider/unit_of_work.h"

namespace outrider {

// How often transactional() runs its work. Waits grow from the first to the last by doubling, each
// shortened by chance to between half and all of it, so that two that met do not meet again.
struct Repeat {
    // Tries altogether, the first included. Default 5; 1: never again.
    std::uint32_t tries_max = 5;

    // The waits before the second and before the last try. Defaults 10 ms and 1 s; raise them where
    // transactions are long.
    Duration delay_first = std::chrono::milliseconds(10);
    Duration delay_max = std::chrono::seconds(1);

    // Says of your own exceptions which are worth another try, where your code wraps what the
    // database said. Serialization failures, deadlocks and a busy database are known without it.
    std::function<bool(const std::exception&)> also = nullptr;
};

// Counts the tries of one piece of work. For the transactional() of each client library.
class Tries {
public:
    explicit Tries(const Repeat& repeat);
    ~Tries();
    Tries(const Tries&) = delete;
    Tries& operator=(const Tries&) = delete;

    // Whether this error is worth another try; `tx` is what it happened in, null if it did not even
    // begin.
    [[nodiscard]] bool may_repeat(const std::exception& error, const Transaction* tx) const;

    // Waits before the next try. Throws Failure (wait) that carries the last error if that was the
    // last one.
    void again(const std::string& error);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Begins, runs `work(tx)`, commits; what `work` returns comes back. `work` gets a TransactionOn and
// can therefore neither commit nor roll back by itself: it throws to give up, which rolls back, and
// the exception comes out unchanged.
//
// If the database says that the work met another (serialization failure, deadlock; on SQLite busy),
// it is rolled back and run again in a fresh transaction: `work` must be able to run several times,
// and keep its other effects until after the commit. CommitUnknown is never repeated.
//
// This is the common part. Call transactional(connection, work), which every client library has.
template <class Begin, class Work>
auto run_transactional(const Repeat& repeat, const Begin& begin, const Work& work) {
    using Unit = std::invoke_result_t<const Begin&>;
    using Tx = TransactionOn<typename Unit::HandleType>;
    Tries tries(repeat);
    for (;;) {
        std::optional<Unit> unit;
        std::string error;
        try {
            unit.emplace(begin());
            if constexpr (std::is_void_v<std::invoke_result_t<const Work&, Tx&>>) {
                work(static_cast<Tx&>(*unit));
                unit->commit();
                return;
            } else {
                auto result = work(static_cast<Tx&>(*unit));
                unit->commit();
                return result;
            }
        } catch (const CommitUnknown&) {
            throw;
        } catch (const std::exception& exception) {
            if (!tries.may_repeat(exception, unit ? &*unit : nullptr)) throw;
            error = exception.what();
        }
        unit.reset();  // rolled back before the wait
        tries.again(error);
    }
}

}  // namespace outrider
