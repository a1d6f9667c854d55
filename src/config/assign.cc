// How a written value becomes the value of a field, and back.

#include <algorithm>
#include <type_traits>

#include "config/rows.h"
#include "config/values.h"
#include "core/nearest.h"
#include "core/text.h"

namespace outrider {
namespace {

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (const std::string& part : parts) {
        if (!text.empty()) text += separator;
        text += part;
    }
    return text;
}

std::string described(const OptionRow& row) {
    const std::string example(row.example);
    switch (row.kind) {
        case Kind::text:
            return "text such as \"" + example + "\"";
        case Kind::url:
            return "a URL such as \"" + example + "\"";
        case Kind::duration:
            return "a duration such as \"" + example + "\"";
        case Kind::count:
            if (!row.choices.empty()) return "one of " + join(split(row.choices, '|'), ", ");
            return "a whole number such as " + example;
        case Kind::bytes:
            return "a size such as \"" + example + "\"";
        case Kind::number:
            return "a number such as " + example;
        case Kind::choice:
            return "one of " + join(split(row.choices, '|'), ", ");
        case Kind::list:
            return "a list of text such as [\"" + example + "\"]";
    }
    return "something else";
}

std::string given(const OptionRow& row, const Node& value) {
    switch (value.shape) {
        case Node::Shape::list:
            return "a list";
        case Node::Shape::table:
            return "a table";
        case Node::Shape::other:
            return "a truth value or a date";
        default:
            return "'" + (row.secret ? SecretUrl(value.text).masked() : value.text) + "'";
    }
}

std::string expectation(const OptionRow& row) {
    std::string text = "expected " + described(row);
    if (!row.least.empty()) text += ", at least " + std::string(row.least);
    if (!row.most.empty()) text += ", at most " + std::string(row.most);
    return text;
}

// A bound and a choice are written like the value itself; none is no bound.
template <class Number, class Parse>
bool is_within(const OptionRow& row, Number number, Parse parse) {
    const std::vector<std::string> choices = split(row.choices, '|');
    const auto is_it = [&](const std::string& choice) { return *parse(choice) == number; };
    if (!row.choices.empty() && std::none_of(choices.begin(), choices.end(), is_it)) return false;
    if (!row.least.empty() && number < *parse(row.least)) return false;
    return row.most.empty() || !(number > *parse(row.most));
}

bool is_one_text(const Node& value) {
    return value.shape == Node::Shape::loose || value.shape == Node::Shape::text;
}

bool is_plain(const Node& value) {
    return is_one_text(value) || value.shape == Node::Shape::number;
}

// One reader per type of field; each says whether the value fits and writes it if so.
struct Reader {
    const OptionRow& row;
    const Node& value;

    bool operator()(std::string* field) const {
        if (!is_one_text(value) || value.text.empty()) return false;
        *field = value.text;
        return true;
    }

    bool operator()(SecretUrl* field) const {
        if (!is_one_text(value) || value.text.empty()) return false;
        *field = SecretUrl(value.text);
        return true;
    }

    bool operator()(Duration* field) const {
        const auto parsed = is_plain(value) ? parse_duration(value.text) : std::nullopt;
        return store(parsed, field, parse_duration);
    }

    bool operator()(double* field) const {
        const auto parsed = is_plain(value) ? parse_number(value.text) : std::nullopt;
        return store(parsed, field, parse_number);
    }

    bool operator()(std::size_t* field) const { return read_count(field); }
    bool operator()(std::uint32_t* field) const { return read_count(field); }

    bool operator()(std::vector<std::string>* field) const {
        if (value.shape == Node::Shape::loose) {
            *field = split(value.text, ',');
            return !field->empty();
        }
        if (value.shape != Node::Shape::list) return false;
        std::vector<std::string> items;
        for (const Node& item : value.children) {
            if (item.shape != Node::Shape::text) return false;
            items.push_back(item.text);
        }
        *field = std::move(items);
        return true;
    }

    // The choices are in the order of the enumeration.
    template <class Choice>
    requires std::is_enum_v<Choice>
    bool operator()(Choice* field) const {
        const std::vector<std::string> choices = split(row.choices, '|');
        const auto found = std::find(choices.begin(), choices.end(), value.text);
        if (!is_one_text(value) || found == choices.end()) return false;
        *field = static_cast<Choice>(found - choices.begin());
        return true;
    }

private:
    template <class Number>
    bool read_count(Number* field) const {
        const auto parse = row.kind == Kind::bytes ? parse_bytes : parse_count;
        return store(is_plain(value) ? parse(value.text) : std::nullopt, field, parse);
    }

    template <class Parsed, class Number, class Parse>
    bool store(const std::optional<Parsed>& parsed, Number* field, Parse parse) const {
        if (!parsed || !is_within(row, *parsed, parse)) return false;
        *field = static_cast<Number>(*parsed);
        return true;
    }
};

struct Shower {
    const OptionRow& row;

    std::string operator()(const std::string* field) const { return *field; }
    std::string operator()(const SecretUrl* field) const { return field->masked(); }
    std::string operator()(const Duration* field) const { return format_duration(*field); }
    std::string operator()(const double* field) const { return format_number(*field); }
    std::string operator()(const std::size_t* field) const {
        return row.kind == Kind::bytes ? format_bytes(*field) : std::to_string(*field);
    }
    std::string operator()(const std::uint32_t* field) const { return std::to_string(*field); }
    std::string operator()(const std::vector<std::string>* field) const {
        return join(*field, ",");
    }
    template <class Choice>
    requires std::is_enum_v<Choice> std::string operator()(const Choice* field) const {
        return split(row.choices, '|').at(static_cast<std::size_t>(*field));
    }
};

}  // namespace

std::optional<Misfit> assign(const OptionRow& row, const Field& field, const Node& value) {
    if (std::visit(Reader{row, value}, field)) return std::nullopt;
    Misfit misfit{
        std::string(row.name) + ": " + expectation(row) + ", not " + given(row, value), {}};
    if (row.kind == Kind::choice) misfit.nearest = nearest(value.text, split(row.choices, '|'));
    return misfit;
}

std::string show(const OptionRow& row, const Field& field) {
    return std::visit([&](const auto* place) { return Shower{row}(place); }, field);
}

}  // namespace outrider
