#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/store.h"
#include "core/store_admin.h"
#include "support/manual_clock.h"

namespace outrider {

// What a store needs to be tested: a fresh database, and a way to write into it as an application
// would.
class StoreHarness {
public:
    virtual ~StoreHarness() = default;

    // Of the database, with `clock` deciding what is due.
    [[nodiscard]] virtual std::shared_ptr<StoreDriver> driver() = 0;

    // One transaction each.
    virtual void commit(const std::vector<Message>& messages) = 0;
    virtual void roll_back(const std::vector<Message>& messages) = 0;

    // How many messages the log still holds.
    [[nodiscard]] virtual std::size_t kept() = 0;

    // Whether sessions of a logbook that live are told from those that have ended.
    [[nodiscard]] virtual bool knows_the_living() const { return true; }

    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
};

using HarnessFactory = std::function<std::unique_ptr<StoreHarness>()>;

struct StoreParameter {
    std::string name;
    HarnessFactory make;
};

inline void PrintTo(const StoreParameter& parameter, std::ostream* out) {
    *out << parameter.name;
}

template <class Harness, class... Arguments>
StoreParameter store_parameter(std::string name, Arguments... arguments) {
    return {std::move(name), [arguments...] { return std::make_unique<Harness>(arguments...); }};
}

// The definition of a store: every test below runs over every store.
class StoreSuite : public ::testing::TestWithParam<StoreParameter> {
protected:
    StoreSuite() : harness_(GetParam().make()), driver_(harness_->driver()) {}

    static Message message(std::string topic, std::string key, std::string payload);

    // A destination that takes everything, unless changed.
    static Destination destination(std::string name = "all");

    [[nodiscard]] std::unique_ptr<Store> open(const Destination& destination);
    [[nodiscard]] std::unique_ptr<StoreAdmin> admin();
    [[nodiscard]] std::unique_ptr<Logbook> logbook(
        std::uint64_t session,
        const std::string& name = "all"
    );
    [[nodiscard]] DestinationStatus status(const std::string& name = "all");

    // Forgets a destination that is known, and that nobody serves any more.
    void forget(const std::string& name = "all");

    // Claims until there are messages, or nothing is left to pass.
    static Batch claim(Store& store, std::size_t messages = 100, std::size_t bytes = 1U << 20U);

    // Cleans up until nothing more goes, letting the stores pass what they have seen; they must
    // have nothing to deliver.
    void clean(const std::vector<Store*>& stores, Duration retention = Duration::zero());
    static std::vector<std::string> payloads(const Batch& batch);

    // Nothing is promised across keys.
    static std::vector<std::string> sorted(std::vector<std::string> texts) {
        std::sort(texts.begin(), texts.end());
        return texts;
    }

    // Claims one batch and settles it as done; what was claimed, as payloads.
    std::vector<std::string> deliver(Store& store, std::size_t messages = 100);

    // Claims one batch and settles it, asking `fate` for each envelope.
    using Judge = std::function<Settlement(const Envelope&)>;
    void settle(Store& store, Batch batch, const Judge& judge);

    static Settlement done(const Envelope& envelope);
    static Settlement left(const Envelope& envelope);
    Settlement refused(const Envelope& envelope, Duration delay = std::chrono::seconds(10)) const;
    Settlement behind(const Envelope& envelope) const;
    static Settlement dead(const Envelope& envelope, bool holds_key = false);

    std::unique_ptr<StoreHarness> harness_;
    std::shared_ptr<StoreDriver> driver_;
};

}  // namespace outrider
