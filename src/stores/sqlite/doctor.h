#pragma once

#include <vector>

#include "outrider/time.h"

#include "core/finding.h"
#include "core/result.h"
#include "stores/sqlite/connection.h"

namespace outrider::sqlite {

// What the doctor looks at, as plain values.
struct DoctorFacts {
    int library_version = 0;  // 3040001
    std::int64_t schema_installed = 0;
    std::int64_t schema_newest = 0;
    std::string journal_mode = "wal";
    std::int64_t wal_bytes = 0;
    std::int64_t future_seconds = 0;  // how far ahead of this clock a message happened
    bool changed_trigger = false;     // the trigger that guards numbers is gone
    std::int64_t last_number = 0;     // the next message gets the one behind it
    std::int64_t last_passed = 0;     // by any destination
};

// What there is to say about them. Pure.
[[nodiscard]] std::vector<Finding> judge(const DoctorFacts& facts);

[[nodiscard]] Result<DoctorFacts> read_facts(
    const Connection& connection,
    const std::string& path,
    WallTime now
);

}  // namespace outrider::sqlite
