#include "brokers/http/place.h"

#include <algorithm>

namespace outrider::http {
namespace {

bool is_unreserved(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    return is_letter || is_digit || std::string_view("-._~").find(c) != std::string_view::npos;
}

void append_escaped(std::string& out, std::string_view value) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (const char c : value) {
        if (is_unreserved(c)) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
}

bool is_forbidden(char c) {
    return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f ||
           c == '#' || c == '"' || c == '<' || c == '>' || c == '\\' || c == '{' || c == '}';
}

bool has_forbidden(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_forbidden);
}

}  // namespace

Result<Place> Place::parse(const HttpOptions& options) {
    Place place;
    place.base_ =
        (options.tls ? "https://" : "http://") + wire::to_string(options.endpoint) + options.path;
    if (has_forbidden(place.base_)) {
        return Error{Remedy::correct, "the URL has a character that must be percent-encoded"};
    }
    if (!flaw_of(place.base_).empty()) {
        return Error{Remedy::correct, std::string(flaw_of(place.base_))};
    }
    if (options.wire.target.empty()) return place;
    Result<wire::Target> target = wire::Target::parse(options.wire.target);
    if (!target) return target.error();
    if (has_forbidden(target->literals())) {
        return Error{
            Remedy::correct, "the target has a character in it that must be percent-encoded"};
    }
    place.depends_ = target->literals() != options.wire.target;
    place.target_ = std::move(target).value();
    if (!place.base_.ends_with('/')) place.base_ += '/';
    return place;
}

std::string Place::of(const Envelope& envelope) const {
    std::string url = base_;
    if (target_) target_->append(url, envelope, append_escaped);
    return url;
}

std::string_view flaw_of(std::string_view url) {
    url.remove_prefix(url.find("://") + 3);
    url = url.substr(0, url.find('?'));
    while (!url.empty()) {
        const std::string_view segment = url.substr(0, url.find('/'));
        if (segment == "." || segment == "..") return "the path has a segment . or .. in it";
        url.remove_prefix(std::min(segment.size() + 1, url.size()));
    }
    return {};
}

}  // namespace outrider::http
