#pragma once

#include <span>
#include <string>
#include <vector>

#include "brokers/http/place.h"
#include "brokers/http/signer.h"
#include "brokers/wire/encoder.h"
#include "core/verdict.h"

namespace outrider::http {

// One POST, ready to go.
struct Request {
    std::string url;
    std::vector<std::string> headers;  // whole lines, "Name: value"
    std::string body;
};

// Makes requests out of envelopes. Keeps its memory from message to message. One thread at a time.
class Writer {
public:
    Writer(const HttpOptions& options, Place place, Signer signer);

    // The request for these messages, of which there is more than one only if they are to go as a
    // batch. False: it cannot be one, and `flaw` says why.
    [[nodiscard]] bool write(std::span<const Envelope> envelopes, Request& request, Answer& flaw);

    // How many of the messages, from the first on, fit into one request. At least 1.
    [[nodiscard]] std::size_t fitting(std::span<const Envelope> envelopes) const;

    // Where a question goes that concerns no message.
    [[nodiscard]] const std::string& base() const { return place_.base(); }

    // Whether different messages may go to different places.
    [[nodiscard]] bool has_many_places() const { return place_.depends_on_message(); }

private:
    [[nodiscard]] bool write_one(const Envelope& envelope, Request& request, Answer& flaw);
    void write_batch(std::span<const Envelope> envelopes, Request& request) const;
    void identify(Request& request, const std::string& id) const;

    const HttpOptions options_;
    const Place place_;
    const Signer signer_;
    wire::Encoder encoder_;
};

// What is wrong with a header: it would break the lines of the protocol. Empty: nothing.
[[nodiscard]] std::string flaw_of(const HeaderView& header);

// Whether a header says how the request itself travels or who sent it, which only the relay says.
[[nodiscard]] bool is_reserved(std::string_view name);

}  // namespace outrider::http
