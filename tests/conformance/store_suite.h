#pragma once

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

// The definition of a store: every test below runs over every store.
class StoreSuite : public ::testing::TestWithParam<StoreParameter> {
protected:
    StoreSuite() : harness_(GetParam().make()), driver_(harness_->driver()) {}

    static Message message(std::string topic, std::string key, std::string payload);

    // A destination that takes everything, unless changed.
    static Destination destination(std::string name = "all");

    [[nodiscard]] std::unique_ptr<Store> open(const Destination& destination);
    [[nodiscard]] std::unique_ptr<StoreAdmin> admin();
    [[nodiscard]] DestinationStatus status(const std::string& name = "all");

    static Batch claim(Store& store, std::size_t messages = 100, std::size_t bytes = 1U << 20U);
    static std::vector<std::string> payloads(const Batch& batch);

    // Claims and settles with one fate for all; what is claimed, as payloads.
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
