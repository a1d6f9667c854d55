#include "config/secret_url.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/text.h"

namespace outrider {
namespace {

constexpr std::string_view kMask = "***";

// Names of parameters whose values are secrets, in URLs and in key=value connection strings.
constexpr std::array<std::string_view, 9> kSecretNames = {
    "password",
    "passwd",
    "pwd",
    "token",
    "secret",
    "access_key",
    "client_secret",
    "api_key",
    "sslpassword"};

// Names of parameters whose values are none: those of the brokers, and of libpq. Whoever adds one
// adds it here, or its value is not shown.
constexpr std::string_view kHarmlessNames =
    " ack_wait allow_eviction allow_private api batch compression creds deduplicate exchange format"
    " fsync heartbeat keepalive maxlen no_subscribers partitioner qos replicas retain sasl source"
    " statistics stream target timeout tls_ca tls_cert tls_key tls_name unroutable version wait "
    "window"
    " application_name channel_binding client_encoding connect_timeout dbname"
    " fallback_application_name gssdelegation gssencmode gsslib host hostaddr keepalives"
    " keepalives_count keepalives_idle keepalives_interval krbsrvname load_balance_hosts"
    " max_protocol_version min_protocol_version options passfile port replication require_auth"
    " requirepeer requiressl service ssl ssl_max_protocol_version ssl_min_protocol_version sslcert"
    " sslcertmode sslcompression sslcrl sslcrldir sslkey sslmode sslnegotiation sslrootcert sslsni"
    " target_session_attrs tcp_user_timeout user ";

// What stands behind these is a path, in which an @ is nothing special.
constexpr std::array<std::string_view, 2> kPaths = {"sqlite", "file"};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Where a URL ends in the middle of a sentence. A text that is a URL ends nowhere else.
constexpr std::string_view kSentence = " \t\r\n\"'`";
constexpr std::string_view kWhole;

bool is_port(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The user, the password and the host, however careless the password is written: one that contains
// a slash or an @ as it is still must not be shown.
std::string_view authority_of(std::string_view url) {
    const std::string_view proper = url.substr(0, url.find_first_of("/?#"));
    const std::size_t colon = proper.find(':');
    const bool has_password = colon != std::string_view::npos && !is_port(proper.substr(colon + 1));
    const std::size_t host = url.rfind('@');
    if (proper.find('@') != std::string_view::npos || !has_password) return proper;
    return host == std::string_view::npos ? proper : url.substr(0, host + 1);
}

// What stands before the "://".
std::string scheme_before(std::string_view text, std::size_t slashes) {
    std::size_t start = slashes;
    while (start > 0 && is_word(text[start - 1])) --start;
    return lower(std::string(text.substr(start, slashes - start)));
}

// Where a user without a password is no name but a key (http:) or a token (nats:).
constexpr std::array<std::string_view, 5> kKeyed = {"http", "https", "nats", "natss", "tls"};

bool hides_user(std::string_view scheme) {
    return std::find(kKeyed.begin(), kKeyed.end(), scheme) != kKeyed.end();
}

void append_login(std::string& out, std::string_view scheme, std::string_view login) {
    const std::size_t colon = login.find(':');
    const std::string_view user = login.substr(0, colon);
    const bool has_colon = colon != std::string_view::npos;
    // With an @ in it, it is the host of another login that the colon belongs to.
    const bool is_alone =
        !has_colon || colon + 1 == login.size() || user.find('@') != std::string_view::npos;
    if (is_alone && hides_user(scheme)) {
        out.append(kMask);
    } else if (has_colon) {
        out.append(user).append(":").append(kMask);
    } else {
        out.append(user);
    }
}

// The login of every scheme://user:password@host.
std::string mask_userinfo(std::string_view text, std::string_view ends) {
    std::string out;
    std::size_t at = 0;
    for (;;) {
        const std::size_t slashes = text.find("://", at);
        if (slashes == std::string_view::npos) return out.append(text.substr(at));
        const std::size_t start = slashes + 3;
        const std::size_t end = std::min(text.find_first_of(ends, start), text.size());
        const std::string_view authority = authority_of(text.substr(start, end - start));
        const std::size_t host = authority.rfind('@');
        out.append(text.substr(at, start - at));
        if (host != std::string_view::npos) {
            append_login(out, scheme_before(text, slashes), authority.substr(0, host));
            out.append(authority.substr(host));
        } else {
            out.append(authority);
        }
        at = start + authority.size();
    }
}

bool is_secret_name(std::string_view word) {
    return std::find(kSecretNames.begin(), kSecretNames.end(), lower(std::string(word))) !=
           kSecretNames.end();
}

// The values of name=value, wherever they stand.
std::string mask_parameters(std::string_view text, std::string_view ends) {
    const std::string value_ends = std::string("&;#").append(ends);
    std::string out;
    std::size_t word = 0;  // where the word that ends here begins
    for (std::size_t at = 0; at < text.size(); ++at) {
        out += text[at];
        if (text[at] == '=' && is_secret_name(text.substr(word, at - word))) {
            out += kMask;
            at = std::min(text.find_first_of(value_ends, at + 1), text.size()) - 1;
        }
        if (!is_word(text[at])) word = at + 1;
    }
    return out;
}

bool is_harmless_name(std::string_view name) {
    const bool is_one = !name.empty() && std::all_of(name.begin(), name.end(), is_word);
    return is_one && kHarmlessNames.find(" " + lower(std::string(name)) + " ") != std::string::npos;
}

// `part`: with the ? or & before it.
void append_parameter(std::string& out, std::string_view part) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || is_harmless_name(part.substr(1, equals - 1))) {
        out.append(part);
    } else {
        out.append(part.substr(0, equals + 1)).append(kMask);
    }
}

// The values of a URL's parameters that nobody knows: one may be the token, misspelt.
std::string mask_unknown(std::string_view url) {
    std::size_t at = std::min(url.find('?'), url.size());
    std::string out(url.substr(0, at));
    while (at < url.size()) {
        const std::size_t end = std::min(url.find('&', at + 1), url.size());
        append_parameter(out, url.substr(at, end - at));
        at = end;
    }
    return out;
}

// The login of a URL without its two slashes, or with one more, which nobody can tell from the
// rest. Such a URL is good for nothing, but is shown to whoever looks for the fault.
std::string mask_broken(std::string_view url, std::string_view scheme) {
    const std::size_t colon = std::min(url.find(':'), url.size());
    const std::string_view rest = url.substr(colon);
    const bool has_no_host = rest.starts_with(":///");
    const bool is_path = std::find(kPaths.begin(), kPaths.end(), scheme) != kPaths.end();
    if (is_path || (rest.starts_with("://") && !has_no_host)) return std::string(url);
    const std::size_t host = rest.substr(0, has_no_host ? rest.find('?') : rest.size()).rfind('@');
    if (host == std::string_view::npos) return std::string(url);
    return std::string(url.substr(0, colon + 1)).append(kMask).append(rest.substr(host));
}

bool is_scheme(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_word(c) || c == '+' || c == '-' || c == '.';
    });
}

}  // namespace

std::string mask_secrets(std::string_view text) {
    return mask_parameters(mask_userinfo(text, kSentence), kSentence);
}

std::string SecretUrl::masked() const {
    const std::string whole = mask_userinfo(mask_broken(text_, scheme()), kWhole);
    return mask_unknown(mask_parameters(whole, kWhole));
}

std::string SecretUrl::scheme() const {
    const std::size_t colon = text_.find(':');
    if (colon == std::string::npos || !is_scheme(text_.substr(0, colon))) return {};
    return lower(text_.substr(0, colon));
}

std::string_view SecretUrl::rest() const {
    const std::size_t colon = text_.find(':');
    return colon == std::string::npos ? std::string_view(text_)
                                      : std::string_view(text_).substr(colon + 1);
}

}  // namespace outrider
