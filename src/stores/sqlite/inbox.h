#pragma once

#include "core/result.h"
#include "stores/sqlite/connection.h"

namespace outrider::sqlite {

// Forgets at most `limit` entries of the inbox whose retention was over at this moment. Returns how
// many.
[[nodiscard]] Result<std::int64_t> clean_inbox(
    sqlite3* database,
    std::int64_t now_millis,
    std::int64_t limit
);

}  // namespace outrider::sqlite
