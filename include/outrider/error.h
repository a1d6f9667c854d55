#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace outrider {

// What the one who meets an error can do about it.
enum class Remedy : std::uint8_t {
    wait,     // the other side is away: try again later, nothing needs to change
    yield,    // somebody else has it or changed it meanwhile: start afresh
    correct,  // the caller must change something: the text says what
    upgrade,  // this build or this server cannot do it
    call,     // something is damaged: stop and call a human
};

[[nodiscard]] std::string_view to_string(Remedy remedy);

// A place in our source. (What std::source_location is for; the clang of Debian 12 has none.)
struct SourcePlace {
    const char* file = "";
    unsigned line = 0;

    // Where this is called.
    [[nodiscard]] static constexpr SourcePlace here(
        const char* file = __builtin_FILE(),
        unsigned line = __builtin_LINE()
    ) {
        return {file, line};
    }
};

// One failure, as a value: what to do, a sentence for a person, the native code of the library
// below (0: none), and where in our source it was noticed. The sentence never contains a secret.
struct Error {
    Remedy remedy = Remedy::wait;
    std::string text;
    int native_code = 0;
    SourcePlace where = SourcePlace::here();
};

// What enqueue and inbox throw. They run inside the caller's transaction, and a return value that
// somebody forgot to look at would let that transaction commit without its message.
class Failure : public std::runtime_error {
public:
    explicit Failure(Error error) : std::runtime_error(error.text), error_(std::move(error)) {}

    [[nodiscard]] const Error& error() const noexcept { return error_; }
    [[nodiscard]] Remedy remedy() const noexcept { return error_.remedy; }

private:
    Error error_;
};

}  // namespace outrider
