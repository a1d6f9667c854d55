#include "brokers/http/options.h"

#include <algorithm>
#include <array>

#include "brokers/http/address.h"
#include "brokers/http/place.h"
#include "brokers/http/signer.h"
#include "brokers/wire/parameters.h"

namespace outrider {
namespace {

constexpr std::uint16_t kPort = 80;
constexpr std::uint16_t kTlsPort = 443;
constexpr std::uint64_t kWindowMax = 1000;
constexpr std::uint64_t kBatchMax = 10'000;

Error fault(std::string text) {
    return Error{Remedy::correct, std::move(text)};
}

Result<void> read_parameters(std::vector<wire::Parameter> given, HttpOptions& options) {
    wire::Parameters parameters(std::move(given));
    int version = static_cast<int>(options.version);
    parameters.text("token", options.token);
    parameters.text("secret", options.secret);
    parameters.flag("allow_private", options.allow_private);
    parameters.choice("version", {"best", "1.1"}, version);
    parameters.number("window", options.window);
    parameters.number("batch", options.batch);
    parameters.duration("timeout", options.timeout);
    parameters.tls(options, "https");
    parameters.wire(options.wire);
    options.version = static_cast<HttpVersion>(version);
    return parameters.finish();
}

Result<void> check_login(const HttpOptions& options) {
    if (!options.user.empty() && !options.token.empty()) {
        return fault("an http: URL takes a user or a token, not both");
    }
    const std::array<const std::string*, 3> words = {
        &options.user, &options.password, &options.token};
    const bool is_broken = std::any_of(words.begin(), words.end(), [](const std::string* word) {
        return word->find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
    });
    if (is_broken) return fault("a user, password or token has a line break in it");
    const Result<http::Signer> signer = http::Signer::parse(options.secret);
    if (!signer) return signer.error();
    return {};
}

Result<void> check_numbers(const HttpOptions& options) {
    if (options.window == 0 || options.window > kWindowMax) {
        return fault("window must be from 1 to " + std::to_string(kWindowMax));
    }
    if (options.batch == 0 || options.batch > kBatchMax) {
        return fault("batch must be from 1 to " + std::to_string(kBatchMax));
    }
    if (options.batch > 1 && options.wire.format != wire::Format::cloudevents_structured) {
        return fault("a batch is one of CloudEvents: it needs the format cloudevents-structured");
    }
    if (options.timeout <= Duration::zero()) return fault("timeout must be longer than 0");
    return {};
}

Result<void> check(const HttpOptions& options) {
    if (Result<void> good = check_login(options); !good) return good;
    if (Result<void> good = check_numbers(options); !good) return good;
    if (!options.allow_private && http::is_private_literal(options.endpoint.host)) {
        return fault(
            "the host is a private address: write ?allow_private=true behind the URL if that is "
            "meant"
        );
    }
    const Result<http::Place> place = http::Place::parse(options);
    if (!place) return place.error();
    if (options.batch > 1 && place->depends_on_message()) {
        return fault("a batch goes to one place: its target has no placeholders");
    }
    return {};
}

// The path as it is written: what is decoded cannot be encoded again.
std::string path_of(std::string_view url) {
    url.remove_prefix(url.find("://") + 3);
    url = url.substr(0, url.find('?'));
    const std::size_t slash = url.find('/');
    return slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
}

}  // namespace

Result<HttpOptions> parse_http_url(std::string_view url, HttpOptions defaults) {
    Result<wire::Url> parsed = wire::parse_url(url);
    if (!parsed) return parsed.error();
    HttpOptions options = std::move(defaults);
    options.tls = parsed->scheme == "https";
    if (!options.tls && parsed->scheme != "http") return fault("expected an http: URL");
    if (parsed->endpoints.size() != 1) return fault("an http: URL names one host");
    options.endpoint = std::move(parsed->endpoints.front());
    if (options.endpoint.port == 0) options.endpoint.port = options.tls ? kTlsPort : kPort;
    options.path = path_of(url);
    options.user = parsed->user;
    options.password = parsed->password;
    if (Result<void> read = read_parameters(std::move(parsed->parameters), options); !read) {
        return read.error();
    }
    if (Result<void> good = check(options); !good) return good.error();
    return options;
}

}  // namespace outrider
