#include "cli/table.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace outrider::cli {
namespace {

bool has_colour() {
    const char* refused = std::getenv("NO_COLOR");
    return ::isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

// Characters, not bytes: continuation bytes of UTF-8 take no place.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

std::string format_row(const Row& row, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
        line += row[i];
        if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    return line;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) c = '?';
    }
    // C1 controls, two bytes in UTF-8.
    for (std::size_t at = 0; at + 1 < out.size(); ++at) {
        const auto second = static_cast<unsigned char>(out[at + 1]);
        if (out[at] == '\xc2' && second >= 0x80 && second < 0xa0) out.replace(at, 2, "?");
    }
    return out;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

std::string format_table(const Row& head, const std::vector<Row>& rows) {
    std::vector<std::size_t> widths;
    for (const std::string& title : head) widths.push_back(width_of(title));
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    }
    std::string text = format_row(head, widths);
    if (has_colour()) text = "\033[1m" + text + "\033[0m";
    for (const Row& row : rows) text += "\n" + format_row(row, widths);
    return text;
}

}  // namespace outrider::cli
