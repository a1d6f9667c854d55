#pragma once

#include <string>
#include <string_view>

namespace outrider::redis {

// Commands as Redis reads them, one behind the other, to be sent in one go. Keeps its memory when
// it is cleared.
class Commands {
public:
    // Begins a command of that many words, which must follow.
    void begin(std::size_t words) { put('*', words); }

    void word(std::string_view text) {
        put('$', text.size());
        bytes_ += text;
        bytes_ += "\r\n";
    }

    // A whole command.
    void command(std::initializer_list<std::string_view> words) {
        begin(words.size());
        for (const std::string_view one : words) word(one);
    }

    void clear() { bytes_.clear(); }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    void put(char mark, std::size_t number) {
        bytes_ += mark;
        bytes_ += std::to_string(number);
        bytes_ += "\r\n";
    }

    std::string bytes_;
};

}  // namespace outrider::redis
