#pragma once

#include <string>

#include "stores/table/wording.h"

namespace outrider::table {

// The statements of one destination's turns, made once.
struct Statements {
    // `chosen`: only rows that are chosen by id.
    Statements(const Wording& wording, const Destination& destination, bool chosen);

    std::string free;     // claim_free.sql
    std::string heads;    // claim_heads.sql
    std::string rows;     // claim_rows.sql, without a bound
    std::string bounded;  // claim_rows.sql, up to where the look for keys ended
    std::string lock;     // of the whole table, for a global order
    std::string review;   // review.sql
    std::string done;     // settle_done.sql
    std::string failed;   // settle_failed.sql; empty: the table has no place for it
};

}  // namespace outrider::table
