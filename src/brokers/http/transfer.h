#pragma once

#include <memory>
#include <string>
#include <vector>

#include <curl/curl.h>

#include "brokers/http/options.h"
#include "brokers/http/writer.h"
#include "core/verdict.h"

namespace outrider::http {

// One request under way, and what comes back for it. Used again and again, so that the library
// keeps its memory. The library holds its address: it stays where it is. One thread at a time.
class Transfer {
public:
    explicit Transfer(const HttpOptions& options);
    ~Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    [[nodiscard]] CURL* get() const { return handle_.get(); }

    // Makes it ready for a message, or for a question whether anybody is there (OPTIONS).
    void post(Request request, std::chrono::milliseconds timeout);
    void ask(const std::string& url, std::chrono::milliseconds timeout);

    // Where the message was posted to.
    [[nodiscard]] const std::string& url() const { return request_.url; }

    // What the transfer's end means for the message. The status counts even where the body that
    // followed it had no end.
    [[nodiscard]] Answer answer(CURLcode code) const;

    // The receiver's status, if its answer had a whole head and was not cut off; else 0. A body
    // that takes too long (CURLE_OPERATION_TIMEDOUT, also before the library says so) is not cut
    // off.
    [[nodiscard]] long status(CURLcode code) const;

    // Whether a connection was made for it, TLS included, whatever became of the request.
    [[nodiscard]] bool is_connected() const { return is_connected_; }

    // What has answered, as far as it says so, and the version of HTTP it speaks.
    [[nodiscard]] std::string server() const;

    // Why there is no answer.
    [[nodiscard]] std::string failure(CURLcode code) const;

private:
    template <auto destroy>
    struct Destroy {
        void operator()(auto* handle) const { destroy(handle); }
    };
    using Handle = std::unique_ptr<CURL, Destroy<curl_easy_cleanup>>;
    using List = std::unique_ptr<curl_slist, Destroy<curl_slist_free_all>>;

    template <class Value>
    void set(CURLoption option, Value value);
    void set_tls(const HttpOptions& options);
    void set_login(const HttpOptions& options);
    void start(const std::string& url, std::chrono::milliseconds timeout);
    [[nodiscard]] long given() const;  // the status, however the transfer ended
    [[nodiscard]] std::string_view header(const char* name) const;  // of the answer; empty: none
    [[nodiscard]] std::string excerpt() const;           // of the answer's body, for a person
    [[nodiscard]] std::int64_t wait_in_seconds() const;  // that is asked for

    static std::size_t take_head(char* bytes, std::size_t size, std::size_t count, void* self);
    static std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* self);
    static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address);
    static int note_connection(void* self, char*, char*, int, int);

    const bool allow_private_;
    const std::vector<std::string> secrets_;  // that no reason may quote
    const std::size_t kept_bytes_max_;  // the excerpt, and as much as a secret at its end takes
    Handle handle_;
    List headers_;
    Request request_;
    std::vector<char> complaint_;  // the library writes here what went wrong
    bool is_connected_ = false;
    bool has_head_ = false;  // the answer's head, up to the empty line that ends it
    std::string kept_;       // the first bytes of the answer's body
    std::size_t body_bytes_ = 0;
    std::string private_address_;  // that the host turned out to have
};

}  // namespace outrider::http
