#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brokers/wire/options.h"
#include "core/batch.h"

namespace outrider::wire {

// What differs from broker to broker in the names and values of headers.
struct Dialect {
    // Before the names of CloudEvents attributes in binary mode, e.g. "ce-". May be empty.
    std::string_view attribute_prefix;

    // Headers there are lines of text, so values that are ours are percent-encoded: space, '"',
    // '%', control characters and everything beyond ASCII, as CloudEvents says for HTTP and NATS.
    bool percent_encodes = false;
};

// One message as it goes to a broker. The views live until the next one is encoded.
struct Encoded {
    std::span<const HeaderView> headers;  // ours first, then the message's own
    std::string_view content_type;        // may be empty
    std::string_view payload;
};

// Turns envelopes into what travels, by the conventions of README.md beside this file. Keeps its
// memory from message to message. One thread at a time.
class Encoder {
public:
    Encoder(Options options, Dialect dialect);

    [[nodiscard]] Encoded encode(const Envelope& envelope);

private:
    void add_plain(const Envelope& envelope);
    void add_attributes(const Envelope& envelope);
    void add_attribute(std::string_view name, std::string_view value);
    void add_own_headers(const Envelope& envelope);
    [[nodiscard]] bool is_taken_for_ours(std::string_view name, std::size_t ours_count) const;
    void add(std::string_view name, std::string_view value);
    [[nodiscard]] std::string_view keep(std::string text);

    const Options options_;
    const Dialect dialect_;
    std::vector<HeaderView> headers_;
    std::array<std::string, 24> kept_;  // what headers_ points to: 8 attributes, 3 texts each
    std::size_t kept_count_ = 0;
    std::string document_;
    std::string_view content_type_;
};

// The text with everything percent-encoded that a line of ASCII does not carry; see Dialect.
[[nodiscard]] std::string percent_encode(std::string_view text);

// Whether two header names are the same, letter case aside.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

}  // namespace outrider::wire
