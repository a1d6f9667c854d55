#pragma once

#include <memory>

#include "stores/memory/database.h"

namespace outrider {

// A logbook of a MemoryDatabase. Dropped without leave(), its session has ended.
class MemoryLogbook final : public Logbook {
public:
    MemoryLogbook(
        std::shared_ptr<MemoryDatabase> database,
        std::string destination,
        std::uint64_t session
    )
        : database_(std::move(database)),
          destination_(std::move(destination)),
          session_(session) {}
    ~MemoryLogbook() override;
    MemoryLogbook(const MemoryLogbook&) = delete;
    MemoryLogbook& operator=(const MemoryLogbook&) = delete;

    [[nodiscard]] Result<Legacy> enter() override;
    [[nodiscard]] Result<void> write(const Page& page) override;
    [[nodiscard]] Result<void> leave() override;

private:
    // With the database's mutex held.
    DestinationState* state();

    const std::shared_ptr<MemoryDatabase> database_;
    const std::string destination_;
    const std::uint64_t session_;
};

}  // namespace outrider
