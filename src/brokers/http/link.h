#pragma once

#include <memory>
#include <vector>

#include <curl/curl.h>

#include "brokers/http/transfer.h"
#include "core/result.h"

namespace outrider::http {

// The connections of one worker and the requests that use them. Connections stay open between
// bursts. One thread at a time.
class Link {
public:
    explicit Link(HttpOptions options);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // A transfer that nothing is under way on. Null: the window is full.
    [[nodiscard]] Transfer* free_transfer();

    // Sets a prepared transfer going.
    void begin(Transfer& transfer);

    struct Done {
        Transfer* transfer = nullptr;
        CURLcode code = CURLE_OK;
    };

    // Moves bytes, waiting for some until the deadline. What has ended by then is free again, and
    // its answer may be read until it is used the next time.
    [[nodiscard]] std::vector<Done> advance(Deadline deadline);

    [[nodiscard]] std::size_t active() const { return active_.size(); }

    // Breaks off everything that is under way, and the connections it uses.
    void abort();

private:
    std::vector<Done> collect();

    struct Destroy {
        void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
    };

    const HttpOptions options_;
    std::unique_ptr<CURLM, Destroy> multi_;
    std::vector<std::unique_ptr<Transfer>> transfers_;
    std::vector<Transfer*> free_;
    std::vector<Transfer*> active_;
};

}  // namespace outrider::http
