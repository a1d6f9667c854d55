#include "app/sqlite_side.h"

#include "support/sqlite_session.h"
#include "support/temp_folder.h"

namespace outrider {

struct SqliteSide::Inside {
    TempFolder folder;
    SqliteSession observer{folder.file("app.db")};
};

SqliteSide::SqliteSide() : inside_(std::make_unique<Inside>()) {
    sqlite::migrate(inside_->observer.get());
}

SqliteSide::~SqliteSide() = default;

std::string SqliteSide::path() const {
    return inside_->folder.file("app.db");
}

std::string SqliteSide::other(const std::string& text) const {
    return inside_->observer.value(text);
}

std::string SqliteSide::payloads() const {
    return other(
        "select group_concat(p) from (select cast(payload as text) p from outrider_message "
        "order by seq)"
    );
}

sqlite::UnitOptions SqliteSide::reading(const Repeat& repeat) {
    sqlite::UnitOptions options;
    options.lock = sqlite::Lock::at_first_write;
    options.repeat = repeat;
    return options;
}

}  // namespace outrider
