#include "stores/postgres/names.h"

namespace outrider::postgres {

Result<Names> Names::of(std::string_view schema, std::string_view now) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const bool fits = !schema.empty() && schema.size() <= 40 &&
                      schema.find_first_not_of(kLetters) == std::string_view::npos &&
                      (schema[0] < '0' || schema[0] > '9');
    const bool reserved = schema.starts_with("pg_") || schema == "information_schema";
    if (fits && !reserved) return Names(std::string(schema), std::string(now));
    return Error{
        Remedy::correct,
        "the schema name may have letters, digits and underscores, at most 40, not starting with a "
        "digit or pg_, and is not information_schema"};
}

std::string Names::fill(
    std::string_view sql,
    std::string_view placeholder,
    std::string_view value
) {
    const std::string pattern = "{" + std::string(placeholder) + "}";
    std::string text(sql);
    for (std::size_t at = text.find(pattern); at != std::string::npos;
         at = text.find(pattern, at + value.size())) {
        text.replace(at, pattern.size(), value);
    }
    return text;
}

std::string Names::quoted(std::string_view suffix) const {
    return "\"" + schema_ + std::string(suffix) + "\"";
}

std::string Names::fill(std::string_view sql) const {
    std::string text = fill(fill(sql, "schema", quoted("")), "now", now_);
    text = fill(text, "channel", "outrider_" + schema_);
    text = fill(text, "writer", quoted("_writer"));
    return fill(text, "relay", quoted("_relay"));
}

}  // namespace outrider::postgres
