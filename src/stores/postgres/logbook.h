#pragma once

#include <memory>
#include <string>

#include "core/logbook.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"
#include "stores/postgres/options.h"

namespace outrider::postgres {

// The logbook of a destination, on a connection that stays open for as long as the relay runs: that
// a session lives is known by an advisory lock of that connection. Behind a pooler in transaction
// mode there is no such lock, and whoever enters takes all others for ended.
class PostgresLogbook final : public Logbook {
public:
    [[nodiscard]] static Result<std::unique_ptr<Logbook>> open(
        const StoreOptions& options,
        const std::string& destination,
        std::uint64_t session
    );

    ~PostgresLogbook() override;
    PostgresLogbook(const PostgresLogbook&) = delete;
    PostgresLogbook& operator=(const PostgresLogbook&) = delete;

    [[nodiscard]] Result<Legacy> enter() override;
    [[nodiscard]] Result<void> write(const Page& page) override;
    [[nodiscard]] Result<void> leave() override;

private:
    PostgresLogbook(
        Connection connection,
        Names names,
        std::string destination,
        std::uint64_t session
    )
        : connection_(std::move(connection)),
          names_(std::move(names)),
          destination_(std::move(destination)),
          session_(static_cast<std::int64_t>(session)) {}

    [[nodiscard]] Result<Legacy> inherit();
    [[nodiscard]] Result<Rows> run(std::string_view sql, const Parameters& parameters);

    Connection connection_;
    const Names names_;
    const std::string destination_;
    const std::int64_t session_;
    std::int64_t id_ = 0;  // of the destination
};

}  // namespace outrider::postgres
