#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace outrider {

// Whether `text` fits `pattern`, in which `*` matches any run of characters, dots included, and
// nothing else is special. Takes time proportional to the product of the lengths at worst.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

[[nodiscard]] bool matches_any(const std::vector<std::string>& patterns, std::string_view text);

// A list of patterns that remembers what it said about a topic, since a log has few topics and many
// messages. One thread at a time.
class TopicFilter {
public:
    explicit TopicFilter(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

    [[nodiscard]] bool takes(std::string_view topic);

private:
    std::vector<std::string> patterns_;
    std::unordered_map<std::string, bool> known_;
    std::string last_topic_;
    bool last_answer_ = false;
    bool primed_ = false;
};

}  // namespace outrider
