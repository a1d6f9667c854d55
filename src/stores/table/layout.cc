#include "stores/table/layout.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/text.h"
#include "stores/table/presets.h"

namespace outrider::table {
namespace {

// PostgreSQL cuts longer names without a word.
constexpr std::size_t kNameBytesMax = 63;

bool is_name(std::string_view name) {
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    return !name.empty() && name.size() <= kNameBytesMax && is_utf8(name) &&
           std::none_of(name.begin(), name.end(), is_control);
}

// Splits shop.outbox or "Shop"."Out.box" at the dots outside of quotes. Empty: not a name.
std::vector<std::string> split_name(std::string_view text) {
    std::vector<std::string> parts(1);
    bool quotes = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool doubled = quotes && text.substr(i).starts_with("\"\"");
        if (text[i] == '"' && !doubled) {
            quotes = !quotes;
        } else if (text[i] == '.' && !quotes) {
            parts.emplace_back();
        } else {
            parts.back() += text[i];
            if (doubled) ++i;
        }
    }
    const bool good =
        !quotes && parts.size() <= 2 &&
        std::all_of(parts.begin(), parts.end(), [](const auto& p) { return is_name(p); });
    return good ? parts : std::vector<std::string>();
}

// One key of [store.table]: where it is in the options and where it goes.
struct Setting {
    std::string_view option;
    std::string TableOptions::*from;
    std::string Layout::*to;
    bool column = true;  // else a value
    bool needed = false;
};

constexpr std::array kSettings = {
    Setting{"id", &TableOptions::id, &Layout::id, true, true},
    Setting{"topic", &TableOptions::topic, &Layout::topic, true, true},
    Setting{"key", &TableOptions::key, &Layout::key},
    Setting{"type", &TableOptions::type, &Layout::type},
    Setting{"payload", &TableOptions::payload, &Layout::payload, true, true},
    Setting{"content_type", &TableOptions::content_type, &Layout::content_type},
    Setting{"headers", &TableOptions::headers, &Layout::headers},
    Setting{"created", &TableOptions::created, &Layout::created},
    Setting{"due", &TableOptions::due, &Layout::due},
    Setting{"done_at", &TableOptions::done_at, &Layout::done_at},
    Setting{"status", &TableOptions::status, &Layout::status},
    Setting{"status_pending", &TableOptions::status_pending, &Layout::status_pending, false},
    Setting{"status_done", &TableOptions::status_done, &Layout::status_done, false},
    Setting{"status_dead", &TableOptions::status_dead, &Layout::status_dead, false},
    Setting{"flag", &TableOptions::flag, &Layout::flag},
    Setting{"attempts", &TableOptions::attempts, &Layout::attempts},
    Setting{"error", &TableOptions::error, &Layout::error},
};

// Builds a layout and collects everything that is wrong on the way.
class Reader {
public:
    explicit Reader(const TableOptions& options) : options_(options) {}

    // Without the preset that is meant, every column would seem to be missing.
    void read() {
        find_preset();
        if (!problems_.empty()) return;
        read_name();
        for (const Setting& setting : kSettings) read_setting(setting);
        read_done();
        read_settle();
        layout_.retention = options_.retention;
    }

    [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
    [[nodiscard]] const Layout& layout() const { return layout_; }

private:
    void complain(const std::string& text) { problems_.push_back(text); }

    void find_preset() {
        if (options_.preset.empty()) return;
        if (const std::optional<TableOptions> found = preset(options_.preset)) {
            preset_ = *found;
            return;
        }
        std::string known;
        for (const std::string& name : preset_names()) known += (known.empty() ? "" : ", ") + name;
        complain("store.table.preset: there is no '" + options_.preset + "', only " + known);
    }

    [[nodiscard]] std::string pick(std::string TableOptions::*field) const {
        const std::string& own = options_.*field;
        if (own == "-") return {};
        return own.empty() ? preset_.*field : own;
    }

    void read_name() {
        const std::string name = pick(&TableOptions::name);
        const std::vector<std::string> parts = split_name(name);
        if (parts.empty()) {
            const std::string what = name.empty() ? "name the table, or use a preset"
                                                  : "'" + name + "' is no name of a table";
            return complain("store.table.name: " + what + ", such as shop.outbox_messages");
        }
        layout_.table = parts.back();
        if (parts.size() == 2) layout_.schema = parts.front();
    }

    void read_setting(const Setting& setting) {
        std::string value = pick(setting.from);
        const std::string option = "store.table." + std::string(setting.option);
        if (value.empty() && setting.needed) complain(option + ": name the column");
        if (setting.column && !value.empty() && !is_name(value)) {
            complain(option + ": a name has 1 to 63 bytes of UTF-8 without control characters");
        }
        if (!setting.column && (!is_utf8(value) || value.find('\0') != std::string::npos)) {
            complain(option + ": the value is not UTF-8");
        }
        layout_.*setting.to = std::move(value);
    }

    void need(std::string_view option, const std::string& value, const std::string& reason) {
        if (!value.empty()) return;
        complain("store.table." + std::string(option) + ": needed " + reason);
    }

    void read_done() {
        const std::string done = pick(&TableOptions::done);
        const std::string with = "with done = \"" + done + "\"";
        if (done == "delete") {
            layout_.done = Done::erase;
        } else if (done == "timestamp") {
            layout_.done = Done::timestamp;
            need("done_at", layout_.done_at, with);
        } else if (done == "status") {
            layout_.done = Done::status;
            need("status", layout_.status, with);
            need("status_pending", layout_.status_pending, with);
            need("status_done", layout_.status_done, with);
        } else if (done == "flag") {
            layout_.done = Done::flag;
            need("flag", layout_.flag, with);
        } else {
            complain(
                "store.table.done: expected delete, timestamp, status or flag, not '" + done + "'"
            );
        }
        if (layout_.status_dead.empty() || done == "status") return;
        need("status", layout_.status, "with status_dead");
        need(
            "status_pending",
            layout_.status_pending,
            "with status_dead: 'dead replay' writes it into a dead row"
        );
    }

    void read_settle() {
        const std::string settle = pick(&TableOptions::settle);
        layout_.settles_each = settle == "row";
        if (settle.empty() || settle == "batch" || settle == "row") return;
        complain("store.table.settle: expected batch or row, not '" + settle + "'");
    }

    const TableOptions& options_;
    TableOptions preset_;
    Layout layout_;
    std::vector<std::string> problems_;
};

}  // namespace

Result<Layout> layout_of(const TableOptions& options) {
    Reader reader(options);
    reader.read();
    if (reader.problems().empty()) return reader.layout();
    std::string text;
    for (const std::string& problem : reader.problems()) {
        text.append(text.empty() ? "" : "; ").append(problem);
    }
    return Error{Remedy::correct, text};
}

std::vector<std::string> layout_problems(const TableOptions& options) {
    Reader reader(options);
    reader.read();
    return reader.problems();
}

std::vector<NamedColumn> named_columns(const Layout& layout) {
    std::vector<NamedColumn> columns;
    for (const Setting& setting : kSettings) {
        const std::string& column = layout.*setting.to;
        if (setting.column && !column.empty()) columns.push_back({setting.option, &column});
    }
    return columns;
}

std::string quote_name(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"') text += '"';
        text += c;
    }
    return text + "\"";
}

// E'' reads backslashes the same way whatever standard_conforming_strings is.
std::string quote_text(std::string_view text) {
    std::string quoted = "E'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') quoted += c;
        quoted += c;
    }
    return quoted + "'";
}

}  // namespace outrider::table
