#pragma once

#include <string>

#include "core/store_admin.h"
#include "stores/sqlite/connection.h"

namespace outrider::sqlite {

struct StatusRequest {
    const Connection& connection;
    const std::string& path;
    WallTime now;
};

// How everything stands, inside a read transaction. Takes time with the number of topics and of
// pending messages, not with what has been delivered.
[[nodiscard]] Result<Backlog> read_backlog(
    const StatusRequest& request,
    const std::vector<Destination>& expected
);

}  // namespace outrider::sqlite
