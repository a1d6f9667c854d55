#include "brokers/http/link.h"

#include <algorithm>
#include <utility>

#include "brokers/wire/socket.h"

namespace outrider::http {

Link::Link(HttpOptions options) : options_(std::move(options)) {
    // First a transfer: it makes the library ready.
    transfers_.push_back(std::make_unique<Transfer>(options_));
    free_.push_back(transfers_.back().get());
    multi_.reset(curl_multi_init());
    OUTRIDER_ASSERT(multi_ != nullptr);
    const long most = static_cast<long>(options_.window);
    curl_multi_setopt(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, most);
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, most);
}

Link::~Link() {
    abort();
}

Transfer* Link::free_transfer() {
    if (free_.empty() && transfers_.size() < options_.window) {
        transfers_.push_back(std::make_unique<Transfer>(options_));
        free_.push_back(transfers_.back().get());
    }
    return free_.empty() ? nullptr : free_.back();
}

void Link::begin(Transfer& transfer) {
    std::erase(free_, &transfer);
    active_.push_back(&transfer);
    const CURLMcode code = curl_multi_add_handle(multi_.get(), transfer.get());
    OUTRIDER_ASSERT(code == CURLM_OK);
}

std::vector<Link::Done> Link::advance(Deadline deadline) {
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    std::vector<Done> done = collect();
    if (!done.empty() || active_.empty()) return done;
    curl_multi_poll(multi_.get(), nullptr, 0, wire::millis_left(deadline), nullptr);
    curl_multi_perform(multi_.get(), &running);
    return collect();
}

std::vector<Link::Done> Link::collect() {
    std::vector<Done> done;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        // The message is gone once its handle is.
        CURL* const handle = message->easy_handle;
        const CURLcode code = message->data.result;
        const auto found = std::find_if(active_.begin(), active_.end(), [&](const Transfer* one) {
            return one->get() == handle;
        });
        OUTRIDER_ASSERT(found != active_.end());
        curl_multi_remove_handle(multi_.get(), handle);
        done.push_back({*found, code});
        free_.push_back(*found);
        active_.erase(found);
    }
    return done;
}

void Link::abort() {
    for (Transfer* transfer : active_) {
        curl_multi_remove_handle(multi_.get(), transfer->get());
        free_.push_back(transfer);
    }
    active_.clear();
}

}  // namespace outrider::http
