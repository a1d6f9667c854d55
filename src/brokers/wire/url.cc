#include "brokers/wire/url.h"

#include <charconv>
#include <optional>

#include "core/text.h"

namespace outrider::wire {
namespace {

Error fault(std::string what) {
    return Error{Remedy::correct, "the broker's URL " + std::move(what)};
}

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

// A percent sign that begins no escape stands for itself.
std::string decode(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            const std::optional<unsigned> high = hex_digit(text[i + 1]);
            const std::optional<unsigned> low = hex_digit(text[i + 2]);
            if (high && low) {
                plain += static_cast<char>(*high * 16 + *low);
                i += 2;
                continue;
            }
        }
        plain += text[i];
    }
    return plain;
}

// What stands before the mark; the text keeps what stands behind it, or nothing.
std::string_view cut(std::string_view& text, char mark) {
    const std::size_t at = text.find(mark);
    const std::string_view head = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return head;
}

void read_login(Url& url, std::string_view& authority) {
    // The last one: a password may contain the sign itself.
    const std::size_t at = authority.rfind('@');
    if (at == std::string_view::npos) return;
    std::string_view login = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    url.user = decode(cut(login, ':'));
    url.password = decode(login);
}

Result<std::uint16_t> read_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
        return fault("has a port that is no number from 1 to 65535");
    }
    return port;
}

Result<Endpoint> read_endpoint(std::string_view text) {
    Endpoint endpoint;
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos) return fault("has a [ without a ]");
        endpoint.host = std::string(text.substr(1, close - 1));
        text.remove_prefix(close + 1);
        if (!text.empty() && text.front() != ':') return fault("has something behind its ]");
        if (!text.empty()) text.remove_prefix(1);
    } else {
        endpoint.host = decode(cut(text, ':'));
    }
    if (endpoint.host.empty()) return fault("names no host");
    if (text.empty()) return endpoint;
    const Result<std::uint16_t> port = read_port(text);
    if (!port) return port.error();
    endpoint.port = *port;
    return endpoint;
}

void read_parameters(Url& url, std::string_view query) {
    while (!query.empty()) {
        std::string_view value = cut(query, '&');
        if (value.empty()) continue;
        const std::string_view name = cut(value, '=');
        url.parameters.push_back({decode(name), decode(value)});
    }
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
    const std::size_t colon = text.find("://");
    if (colon == std::string_view::npos || colon == 0) return fault("has no scheme://");
    Url url;
    url.scheme = lower(std::string(text.substr(0, colon)));
    text.remove_prefix(colon + 3);
    std::string_view query = text;
    text = cut(query, '?');
    std::string_view path = text;
    // A slash in a password must be written as %2F, as everywhere.
    std::string_view authority = cut(path, '/');
    url.path = decode(path);
    read_login(url, authority);
    do {
        Result<Endpoint> endpoint = read_endpoint(cut(authority, ','));
        if (!endpoint) return endpoint.error();
        url.endpoints.push_back(std::move(endpoint).value());
    } while (!authority.empty());
    read_parameters(url, query);
    return url;
}

std::string to_string(const Endpoint& endpoint) {
    const bool is_v6 = endpoint.host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + endpoint.host + "]" : endpoint.host;
    return host + ":" + std::to_string(endpoint.port);
}

std::string without_secret(std::string text, std::string_view secret) {
    constexpr std::size_t kShort = 6;
    if (secret.empty() || text.find(secret) == std::string::npos) return text;
    if (secret.size() < kShort) {
        return "what was said is not shown: a password this short cannot be taken out of it";
    }
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + 3)) {
        text.replace(at, secret.size(), "***");
    }
    return text;
}

}  // namespace outrider::wire
