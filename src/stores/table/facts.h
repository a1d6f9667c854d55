#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stores/postgres/connection.h"
#include "stores/table/layout.h"

namespace outrider::table {

// What the database knows of a column.
struct Column {
    std::string type;       // "timestamptz"
    std::string full_type;  // "timestamp(6) with time zone", for a cast
    char category = 'U';    // PostgreSQL's own: N numbers, S texts, D times, E enumerations
    bool not_null = false;
};

// A table as the database has it.
struct Facts {
    std::int64_t oid = 0;
    std::string schema;
    std::string table;
    bool partitioned = false;
    std::map<std::string, Column, std::less<>> columns;

    // How many locks the server has room for, for everybody.
    std::int64_t locks = 0;

    [[nodiscard]] const Column& column(std::string_view name) const;
};

// Looks the table up. Remedy::correct with everything that is missing, in words an operator can act
// on: the table, columns, types that do not fit, permissions.
[[nodiscard]] Result<Facts> find_facts(
    const postgres::Connection& connection,
    const Layout& layout
);

}  // namespace outrider::table
