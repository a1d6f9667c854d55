#include "brokers/http/transfer.h"

#include <algorithm>
#include <charconv>

#include <sys/socket.h>

#include "brokers/http/address.h"
#include "brokers/http/classify.h"
#include "brokers/wire/url.h"
#include "core/text.h"

namespace outrider::http {
namespace {

// What is read of an answer's body at most, and what is kept of it for a person.
constexpr std::size_t kBodyBytesMax = 64U << 10U;
constexpr std::size_t kExcerptBytes = 256;
constexpr std::size_t kNameBytes = 100;

constexpr std::int64_t kWaitMax = 86'400;  // in seconds; beyond any rule, and no overflow

constexpr long kFinal = 200;  // smaller statuses announce another

// The library's own state, once per process. It is never taken down: other threads may use it.
void prepare_library() {
    static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    OUTRIDER_ASSERT(code == CURLE_OK);
}

// Version 2 over TLS only: libcurl 7.88 breaks a connection without TLS when it uses it for a
// second request of that version (curl issue 10634).
long protocol(const HttpOptions& options) {
    const bool is_one = options.version == HttpVersion::one;
    return is_one ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS;
}

// What of the login a receiver could repeat. An API key goes as a user without a password.
std::vector<std::string> secrets_of(const HttpOptions& options) {
    if (!options.token.empty()) return {options.token};
    if (options.user.empty()) return {};
    std::string basic;
    append_base64(basic, options.user + ":" + options.password);
    return {options.password.empty() ? options.user : options.password, basic};
}

std::size_t longest(const std::vector<std::string>& texts) {
    std::size_t bytes = 0;
    for (const std::string& text : texts) bytes = std::max(bytes, text.size());
    return bytes;
}

// What was read may end in the middle of a secret. A few characters of it tell nobody anything.
void drop_beginning(std::string& text, std::string_view secret) {
    constexpr std::size_t kFew = 3;
    for (std::size_t size = std::min(text.size(), secret.size()); size > kFew; --size) {
        if (text.ends_with(secret.substr(0, size))) return text.resize(text.size() - size);
    }
}

}  // namespace

template <class Value>
void Transfer::set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(handle_.get(), option, value);
    OUTRIDER_ASSERT(code == CURLE_OK);
}

Transfer::Transfer(const HttpOptions& options)
    : allow_private_(options.allow_private),
      secrets_(secrets_of(options)),
      kept_bytes_max_(kExcerptBytes + longest(secrets_)),
      complaint_(CURL_ERROR_SIZE, '\0') {
    prepare_library();
    handle_.reset(curl_easy_init());
    OUTRIDER_ASSERT(handle_ != nullptr);
    set(CURLOPT_ERRORBUFFER, complaint_.data());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    // Not by way of a proxy that the environment names: it would hide the receiver's address.
    set(CURLOPT_PROXY, "");
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_USERAGENT, "outrider");
    set(CURLOPT_HTTP_VERSION, protocol(options));
    // Only where version 2 can come of it: others would wait for the first answer of all.
    set(CURLOPT_PIPEWAIT, may_be_http2(options) ? 1L : 0L);
    set(CURLOPT_HEADERFUNCTION, &Transfer::take_head);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Transfer::take_body);
    set(CURLOPT_WRITEDATA, this);
    // The address that is really connected to is looked at, whatever the name meant before.
    set(CURLOPT_OPENSOCKETFUNCTION, &Transfer::open_socket);
    set(CURLOPT_OPENSOCKETDATA, this);
    set(CURLOPT_PREREQFUNCTION, &Transfer::note_connection);
    set(CURLOPT_PREREQDATA, this);
    set_login(options);
    set_tls(options);
}

void Transfer::set_login(const HttpOptions& options) {
    if (!options.user.empty()) {
        set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
        set(CURLOPT_USERNAME, options.user.c_str());
        set(CURLOPT_PASSWORD, options.password.c_str());
    }
    if (!options.token.empty()) {
        set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
        set(CURLOPT_XOAUTH2_BEARER, options.token.c_str());
    }
}

void Transfer::set_tls(const HttpOptions& options) {
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!options.tls_ca.empty()) {
        set(CURLOPT_CAINFO, options.tls_ca.c_str());
        set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));  // not those of the system as well
    }
    if (!options.tls_cert.empty()) {
        set(CURLOPT_SSLCERT, options.tls_cert.c_str());
        set(CURLOPT_SSLKEY, options.tls_key.c_str());
    }
}

void Transfer::start(const std::string& url, std::chrono::milliseconds timeout) {
    complaint_[0] = '\0';
    is_connected_ = false;
    has_head_ = false;
    kept_.clear();
    body_bytes_ = 0;
    private_address_.clear();
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(timeout.count(), 1)));
}

void Transfer::post(Request request, std::chrono::milliseconds timeout) {
    request_ = std::move(request);
    start(request_.url, timeout);
    List lines;
    for (const std::string& line : request_.headers) {
        curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
        OUTRIDER_ASSERT(longer != nullptr);
        static_cast<void>(lines.release());
        lines.reset(longer);
    }
    set(CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_POSTFIELDS, request_.body.c_str());
    set(CURLOPT_HTTPHEADER, lines.get());
    headers_ = std::move(lines);
}

void Transfer::ask(const std::string& url, std::chrono::milliseconds timeout) {
    start(url, timeout);
    set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
    set(CURLOPT_HTTPGET, 1L);
    set(CURLOPT_CUSTOMREQUEST, "OPTIONS");
}

// To the library a receiver that hangs up in the middle of its headers has answered, by the status
// line alone. But whoever breaks off there may have broken off its work as well.
std::size_t Transfer::take_head(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view line(bytes, size * count);
    const bool is_end = line == "\r\n" || line == "\n";
    // Behind the heads of 100 Continue and its like the real one is still to come.
    if (is_end && transfer.given() >= kFinal) transfer.has_head_ = true;
    return line.size();
}

std::size_t Transfer::take_body(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view part(bytes, size * count);
    transfer.kept_ += part.substr(0, transfer.kept_bytes_max_ - transfer.kept_.size());
    transfer.body_bytes_ += part.size();
    return transfer.body_bytes_ > kBodyBytesMax ? 0 : part.size();  // 0: enough of this
}

curl_socket_t Transfer::open_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.is_connected_ = false;  // the one that it had was dead
    if (!transfer.allow_private_ && is_private(address->addr)) {
        transfer.private_address_ = to_text(address->addr);
        return CURL_SOCKET_BAD;
    }
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// The library calls it when a connection is ready for the request, be it new or used before.
int Transfer::note_connection(void* self, char*, char*, int, int) {
    static_cast<Transfer*>(self)->is_connected_ = true;
    return CURL_PREREQFUNC_OK;
}

long Transfer::status(CURLcode code) const {
    const bool had_enough = code == CURLE_WRITE_ERROR && body_bytes_ > kBodyBytesMax;
    const bool has_no_end = code == CURLE_OPERATION_TIMEDOUT;
    const bool counts = code == CURLE_OK || had_enough || has_no_end;
    return has_head_ && counts ? given() : 0;
}

long Transfer::given() const {
    long status = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
}

std::string_view Transfer::header(const char* name) const {
    curl_header* found = nullptr;
    const auto code = curl_easy_header(handle_.get(), name, 0, CURLH_HEADER, -1, &found);
    return code == CURLHE_OK ? std::string_view(found->value) : std::string_view();
}

// Dates are for the library; of numbers that are too long for it, it says nothing.
std::int64_t Transfer::wait_in_seconds() const {
    const std::string_view text = header("Retry-After");
    const char* const end = text.data() + text.size();
    std::int64_t seconds = 0;
    const auto [stop, code] = std::from_chars(text.data(), end, seconds);
    if (stop != end || text.starts_with('-')) {
        curl_off_t date = 0;
        curl_easy_getinfo(handle_.get(), CURLINFO_RETRY_AFTER, &date);
        return date;
    }
    return code == std::errc::result_out_of_range ? kWaitMax : seconds;
}

std::string Transfer::server() const {
    const std::string_view given = header("Server");
    const std::string_view name = given.empty() ? "a receiver without a name" : given;
    long version = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_HTTP_VERSION, &version);
    const char* protocol = version == CURL_HTTP_VERSION_2_0 ? ", HTTP/2" : ", HTTP/1";
    return std::string(name.substr(0, kNameBytes)) + protocol;
}

std::string Transfer::failure(CURLcode code) const {
    if (!private_address_.empty()) {
        return "the receiver's address " + private_address_ +
               " is private: write ?allow_private=true behind the URL if that is meant";
    }
    if (code == CURLE_OK) return "cannot post: the head of the receiver's answer has no end";
    const std::string_view details = complaint_.data();
    return std::string("cannot post: ") +
           (details.empty() ? std::string(curl_easy_strerror(code)) : std::string(details));
}

// Receivers that echo a request would put its login into the log, the store and the dead letters.
std::string Transfer::excerpt() const {
    std::string text = kept_;
    for (const std::string& secret : secrets_) text = wire::without_secret(std::move(text), secret);
    for (const std::string& secret : secrets_) drop_beginning(text, secret);
    return text.substr(0, kExcerptBytes);
}

Answer Transfer::answer(CURLcode code) const {
    const long given = status(code);
    if (given == 0) return {Verdict::unanswered, failure(code), {}};
    Answer answer{classify(given), {}, {}};
    if (answer.verdict == Verdict::acknowledged) return answer;
    answer.reason = "the receiver said " + std::to_string(given);
    if (!kept_.empty()) answer.reason += ": " + excerpt();
    if (const std::int64_t wait = wait_in_seconds(); wait > 0) {
        answer.retry_after = std::chrono::seconds(std::min(wait, kWaitMax));
    }
    return answer;
}

}  // namespace outrider::http
