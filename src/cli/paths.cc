#include "cli/paths.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <unistd.h>

namespace outrider::cli {
namespace {

namespace fs = std::filesystem;

Error misfit(std::string text) {
    return {Remedy::correct, std::move(text)};
}

std::optional<unsigned> hex_value(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

// Nothing: a % without two digits behind it, or an encoded NUL.
std::optional<std::string> decode(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        if (at + 2 >= text.size()) return std::nullopt;
        const auto high = hex_value(text[at + 1]);
        const auto low = hex_value(text[at + 2]);
        if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
        out += static_cast<char>(*high << 4U | *low);
        at += 2;
    }
    return out;
}

std::string folder_of(const std::string& path) {
    const std::string folder = fs::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

}  // namespace

Result<std::string> path_of(const SecretUrl& url) {
    const std::string scheme = url.scheme();
    std::string_view rest = url.rest();
    const std::string how =
        ": write " + scheme + ":///absolute/path or " + scheme + ":relative/path";
    if (rest.starts_with("//")) {
        rest.remove_prefix(2);
        if (rest.starts_with("localhost/")) rest.remove_prefix(9);
        if (!rest.starts_with('/')) return misfit("'" + url.masked() + "' names a host" + how);
    }
    if (rest.empty() || rest == "/") return misfit("'" + url.masked() + "' has no path" + how);
    if (rest == ":memory:") {
        return misfit("a database in memory cannot be shared with anybody" + how);
    }
    if (rest.find_first_of("?#") != std::string_view::npos) {
        return misfit("'" + url.masked() + "' takes no parameters: write %3F and %23 in a path");
    }
    const std::optional<std::string> path = decode(rest);
    if (!path) return misfit("'" + url.masked() + "' has a % without two digits: write %25");
    if (scheme == "sqlite" && path->starts_with("file:")) {
        return misfit("'" + url.masked() + "' has a second scheme" + how);
    }
    return *path;
}

std::string url_of(const std::string& scheme, const std::string& path) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string url = scheme + "://";
    for (const char c : path) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') ||
                              std::string_view("/._-").find(c) != std::string_view::npos;
        const auto byte = static_cast<unsigned char>(c);
        if (is_plain) url += c;
        if (!is_plain) url += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
    return url;
}

Result<void> check_folder(const std::string& path) {
    const std::string folder = folder_of(path);
    std::error_code error;
    if (!fs::exists(folder, error)) {
        return misfit("the folder '" + folder + "' does not exist: create it with mkdir -p");
    }
    if (!fs::is_directory(folder, error)) return misfit("'" + folder + "' is not a folder");
    if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
    const std::string reason = std::strerror(errno);
    return misfit(
        "the folder '" + folder + "' cannot be written (" + reason +
        "): change its owner or its mode"
    );
}

Result<void> check_file(const std::string& path) {
    if (Result<void> folder = check_folder(path); !folder) return folder;
    std::error_code error;
    if (fs::is_directory(path, error)) return misfit("'" + path + "' is a folder, not a file");
    if (!fs::exists(path, error) || ::access(path.c_str(), W_OK) == 0) return {};
    const std::string reason = std::strerror(errno);
    return misfit(
        "'" + path + "' cannot be written (" + reason + "): change its owner or its mode"
    );
}

}  // namespace outrider::cli
