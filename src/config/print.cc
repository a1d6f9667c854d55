#include "config/print.h"

#include <nlohmann/json.hpp>

#include "config/rows.h"

namespace outrider {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const OptionRow& row, const Field& field) {
    if (const auto* list = std::get_if<std::vector<std::string>*>(&field)) return **list;
    if (const auto* number = std::get_if<double*>(&field)) return **number;
    if (row.kind == Kind::count) return Json::parse(show(row, field));
    return show(row, field);
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// JSON's strings, numbers and lists of strings are TOML's as well.
std::string line_of(const OptionRow& row, const Field& field) {
    const std::size_t dot = row.name.rfind('.');
    const std::string_view last =
        dot == std::string_view::npos ? row.name : row.name.substr(dot + 1);
    return std::string(last) + " = " + dump(value_json(row, field)) + "\n";
}

std::string_view table_of(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

// Writes rows, with a head before each group of one table.
template <class Rows, class Owner>
void write_rows(std::string& out, const Rows& rows, const std::string& prefix, Owner& owner) {
    std::string_view table;
    for (const auto& row : rows) {
        const Field field = row.field(owner);
        if (show(row.option, field).empty()) continue;
        const std::string_view next = table_of(row.option.name);
        if (next != table) out += "\n[" + prefix + std::string(next) + "]\n";
        table = next;
        out += line_of(row.option, field);
    }
}

template <class Rows, class Owner>
Json rows_json(const Rows& rows, Owner& owner) {
    Json json = Json::object();
    for (const auto& row : rows) {
        std::string path = "/" + std::string(row.option.name);
        for (char& c : path) {
            if (c == '.') c = '/';
        }
        json[Json::json_pointer(path)] = value_json(row.option, row.field(owner));
    }
    return json;
}

std::string kind_of(const OptionRow& row) {
    switch (row.kind) {
        case Kind::text:
            return "text";
        case Kind::url:
            return "a URL";
        case Kind::duration:
            return "a duration";
        case Kind::count:
            return "a whole number";
        case Kind::bytes:
            return "a size";
        case Kind::number:
            return "a number";
        case Kind::choice:
            return "a choice";
        case Kind::list:
            return "a list of text";
    }
    return "?";
}

// "fast, durable"; "a whole number, at least 1, at most 64".
std::string values_of(const OptionRow& row) {
    std::string text;
    if (row.choices.empty()) text = kind_of(row);
    for (const char c : row.choices) text += c == '|' ? ", " : std::string(1, c);
    if (!row.least.empty()) text.append(", at least ").append(row.least);
    if (!row.most.empty()) text.append(", at most ").append(row.most);
    return text;
}

// An example, as the value itself would be written.
std::string example_of(const OptionRow& row) {
    const std::string text(row.example);
    return row.kind == Kind::list ? dump(Json::array({text})) : dump(text);
}

// One key of the reference, each line behind a comment sign.
std::string explain(const OptionRow& row, const Field& field) {
    const bool has_default = !show(row, field).empty();
    const std::string name(row.name.substr(row.name.rfind('.') + 1));
    return "# " + std::string(row.sentence) + " (" + values_of(row) +
           (has_default ? ")\n#" + line_of(row, field)
                        : "; no default)\n#" + name + " = " + example_of(row) + "\n");
}

template <class Rows, class Owner>
void explain_rows(std::string& out, const Rows& rows, const std::string& prefix, Owner& owner) {
    std::string_view table;
    for (const auto& row : rows) {
        const std::string_view next = table_of(row.option.name);
        if (next != table) out += "\n#[" + prefix + std::string(next) + "]\n";
        table = next;
        out += explain(row.option, row.field(owner));
    }
}

template <class Rows, class Owner>
void list_rows(Json& out, const Rows& rows, const std::string& prefix, Owner& owner) {
    for (const auto& row : rows) {
        const Field field = row.field(owner);
        const bool has_default = !show(row.option, field).empty();
        out.push_back(
            {{"key", prefix + std::string(row.option.name)},
             {"default", has_default ? value_json(row.option, field) : Json()},
             {"values", values_of(row.option)},
             {"meaning", row.option.sentence}}
        );
    }
}

}  // namespace

std::string reference_toml() {
    Config config;
    DestinationConfig destination;
    std::string out;
    explain_rows(out, global_rows(), "", config);
    out += "\n#[[destination]]\n";
    explain_rows(out, destination_rows(), "destination.", destination);
    return out.substr(1);
}

std::string reference_json() {
    Config config;
    DestinationConfig destination;
    Json json = Json::array();
    list_rows(json, global_rows(), "", config);
    list_rows(json, destination_rows(), "destination.", destination);
    return dump(json);
}

std::string to_toml(const Config& config) {
    Config copy = config;  // rows hand out places to write to
    std::string out;
    write_rows(out, global_rows(), "", copy);
    for (DestinationConfig& one : copy.destinations) {
        out += "\n[[destination]]\n";
        write_rows(out, destination_rows(), "destination.", one);
    }
    return out.empty() ? out : out.substr(1);
}

std::string to_json(const Config& config) {
    Config copy = config;
    Json json = rows_json(global_rows(), copy);
    json["destination"] = Json::array();
    for (DestinationConfig& one : copy.destinations) {
        json["destination"].push_back(rows_json(destination_rows(), one));
    }
    return dump(json);
}

}  // namespace outrider
