#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outrider/table.h"

#include "core/result.h"

namespace outrider::table {

// How a delivered row is settled.
enum class Done : std::uint8_t { erase, timestamp, status, flag };

// A table as it was configured, checked for sense but not yet against the database. Column names
// are as the table has them; empty: there is none.
struct Layout {
    std::string schema;  // empty: wherever the search path finds the table
    std::string table;
    std::string id, topic, key, type, payload, content_type, headers, created, due;
    Done done = Done::erase;
    std::string done_at, status, flag, attempts, error;
    std::string status_pending, status_done, status_dead;  // values
    bool settles_each = false;                             // one statement for each row
    Duration retention = Duration::zero();

    // How a row says that it was delivered. Where we delete, somebody else may have marked rows
    // before us.
    [[nodiscard]] Done mark() const {
        if (done != Done::erase) return done;
        if (!flag.empty()) return Done::flag;
        if (!status.empty() && !status_pending.empty()) return Done::status;
        return done_at.empty() ? Done::erase : Done::timestamp;
    }

    // Whether the table can remember that a message was given up on.
    [[nodiscard]] bool can_bury() const { return !attempts.empty() || !status_dead.empty(); }
};

// The layout that these options mean, preset and overrides together. Remedy::correct names every
// key that is wrong or missing.
[[nodiscard]] Result<Layout> layout_of(const TableOptions& options);

// Those keys one by one, "store.table.KEY: what is wrong". Empty: it is a layout.
[[nodiscard]] std::vector<std::string> layout_problems(const TableOptions& options);

// The columns that the layout names, each with the key of the configuration that names it.
struct NamedColumn {
    std::string_view option;  // "created"
    const std::string* column;
};
[[nodiscard]] std::vector<NamedColumn> named_columns(const Layout& layout);

// An identifier in double quotes, those inside doubled. The name must have been checked.
[[nodiscard]] std::string quote_name(std::string_view name);

// A text in single quotes, as SQL reads it whatever the session says.
[[nodiscard]] std::string quote_text(std::string_view text);

}  // namespace outrider::table
