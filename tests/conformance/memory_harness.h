#pragma once

#include "conformance/store_suite.h"
#include "stores/memory/database.h"

namespace outrider {

class MemoryHarness final : public StoreHarness {
public:
    explicit MemoryHarness(std::size_t lanes)
        : database_(std::make_shared<MemoryDatabase>(
              MemoryDatabase::Options{.lanes = lanes, .lanes_per_claim = 0},
              clock
          )) {}

    std::shared_ptr<StoreDriver> driver() override { return database_; }
    void commit(const std::vector<Message>& messages) override { database_->commit(messages); }
    void roll_back(const std::vector<Message>& /*messages*/) override {}
    std::size_t kept() override { return database_->log_size(); }

private:
    std::shared_ptr<MemoryDatabase> database_;
};

}  // namespace outrider
