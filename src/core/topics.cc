#include "core/topics.h"

#include <algorithm>

namespace outrider {

// The usual greedy walk: remember the last star, and on a mismatch let it swallow one character
// more.
bool matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t swallowed = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            swallowed = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++swallowed;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return matches(pattern, text);
    });
}

bool TopicFilter::takes(std::string_view topic) {
    if (primed_ && topic == last_topic_) return last_answer_;
    // Bounded: somebody may use a topic per customer.
    constexpr std::size_t kKnownMax = 10'000;
    if (known_.size() >= kKnownMax) known_.clear();
    last_topic_.assign(topic);
    const auto [entry, is_new] = known_.try_emplace(last_topic_, false);
    if (is_new) entry->second = matches_any(patterns_, topic);
    last_answer_ = entry->second;
    primed_ = true;
    return last_answer_;
}

}  // namespace outrider
