#pragma once

#include <memory>
#include <string>

#include "outrider/sqlite_unit.h"

namespace outrider {

// A database with Outrider's tables, looked at from another connection. Without <sqlite3.h>, which
// SOCI wants for itself.
class SqliteSide {
public:
    static constexpr const char* kTable = "outrider_message";

    SqliteSide();
    ~SqliteSide();
    SqliteSide(const SqliteSide&) = delete;
    SqliteSide& operator=(const SqliteSide&) = delete;

    [[nodiscard]] std::string path() const;
    std::string other(const std::string& text) const;
    [[nodiscard]] std::string payloads() const;

    // Notices a write after a read: the write lock is not taken before it is needed.
    static sqlite::UnitOptions reading(const Repeat& repeat);

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace outrider
