#include "brokers/http/writer.h"

#include <algorithm>
#include <array>

#include "brokers/wire/cloud_event.h"
#include "core/clock.h"

namespace outrider::http {
namespace {

constexpr std::string_view kBatchContentType = "application/cloudevents-batch+json";
constexpr std::size_t kBatchBytes = 1U << 20U;

// The library of HTTP/2 sends no head of more than 64 KiB, and breaks the connection over it, with
// all that is under way there. What it packs around a header is counted, and room is left for the
// login.
constexpr std::size_t kHeadBytesMax = 60'000;
constexpr std::size_t kHeaderBytes = 12;

// Headers of one hop, of the login, and those that we set ourselves.
constexpr std::array<std::string_view, 16> kReserved = {
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "host",
    "idempotency-key",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp"};

bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\x7f';
}

// What a header's name may be made of (a token of RFC 9110).
bool is_token(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    return is_letter || is_digit ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// libcurl takes "Name:" for an order to leave a header out, be there white space behind it or not,
// and "Name;" for one without a value. A receiver cannot tell white space from no value.
std::string line(std::string_view name, std::string_view value) {
    std::string text(name);
    if (value.find_first_not_of(" \t") == std::string_view::npos) return text + ";";
    return text.append(": ").append(value);
}

bool is_too_long(const Request& request) {
    std::size_t bytes = request.url.size();
    for (const std::string& line : request.headers) bytes += line.size() + kHeaderBytes;
    return bytes > kHeadBytesMax;
}

std::string now_in_seconds() {
    return std::to_string(to_millis(SystemClock().wall()) / 1000);
}

}  // namespace

bool is_reserved(std::string_view name) {
    return std::any_of(kReserved.begin(), kReserved.end(), [&](std::string_view reserved) {
        return wire::same_name(name, reserved);
    });
}

std::string flaw_of(const HeaderView& header) {
    if (header.name.empty() || !std::all_of(header.name.begin(), header.name.end(), is_token)) {
        return "a header's name is empty or has a character in it that HTTP does not take";
    }
    if (std::any_of(header.value.begin(), header.value.end(), is_control)) {
        return "the header " + std::string(header.name) + " has a control character in it";
    }
    return {};
}

Writer::Writer(const HttpOptions& options, Place place, Signer signer)
    : options_(options),
      place_(std::move(place)),
      signer_(std::move(signer)),
      encoder_(options.wire, {.attribute_prefix = "ce-", .percent_encodes = true}) {
}

bool Writer::write(std::span<const Envelope> envelopes, Request& request, Answer& flaw) {
    request = {};
    request.url = place_.of(envelopes.front());
    if (const std::string_view wrong = flaw_of(request.url); !wrong.empty()) {
        // An operator can mend it with another target.
        flaw = {Verdict::refused, std::string(wrong)};
        return false;
    }
    if (options_.batch == 1) return write_one(envelopes.front(), request, flaw);
    write_batch(envelopes, request);
    return true;
}

bool Writer::write_one(const Envelope& envelope, Request& request, Answer& flaw) {
    const wire::Encoded encoded = encoder_.encode(envelope);
    const HeaderView content_type{"Content-Type", encoded.content_type};
    std::string wrong = flaw_of(content_type);
    for (const HeaderView& header : encoded.headers) {
        if (is_reserved(header.name)) continue;
        if (wrong.empty()) wrong = flaw_of(header);
        request.headers.push_back(line(header.name, header.value));
    }
    if (!wrong.empty()) {
        flaw = {Verdict::unacceptable, std::move(wrong)};
        return false;
    }
    // Without a word from us the library would say that it is a form.
    request.headers.push_back(
        encoded.content_type.empty() ? "Content-Type:" : line(content_type.name, content_type.value)
    );
    request.body = encoded.payload;
    identify(request, envelope.id.to_string());
    if (!may_be_http2(options_) || !is_too_long(request)) return true;
    flaw = {Verdict::unacceptable, "the headers and the URL are too long for HTTP/2"};
    return false;
}

// A batch has the name of all it contains: were it called by one of its messages, a receiver that
// knows that name would drop the others too.
void Writer::write_batch(std::span<const Envelope> envelopes, Request& request) const {
    std::string ids;
    request.body = "[";
    for (const Envelope& envelope : envelopes) {
        if (!ids.empty()) request.body += ",";
        wire::append_cloud_event(request.body, envelope, options_.wire.source);
        ids += envelope.id.to_string();
    }
    request.body += "]";
    request.headers.push_back(line("Content-Type", kBatchContentType));
    identify(request, digest_of(ids));
}

void Writer::identify(Request& request, const std::string& id) const {
    request.headers.push_back(line("Idempotency-Key", id));
    request.headers.emplace_back("Expect:");  // no round trip before a large body
    if (!signer_.signs()) return;
    const std::string timestamp = now_in_seconds();
    request.headers.push_back(line("webhook-id", id));
    request.headers.push_back(line("webhook-timestamp", timestamp));
    request.headers.push_back(line("webhook-signature", signer_.sign(id, timestamp, request.body)));
}

std::size_t Writer::fitting(std::span<const Envelope> envelopes) const {
    std::size_t count = 0;
    std::size_t bytes = 0;
    while (count < std::min<std::size_t>(envelopes.size(), options_.batch)) {
        bytes += weight(envelopes[count]);
        if (count > 0 && bytes > kBatchBytes) break;
        count += 1;
    }
    return count;
}

}  // namespace outrider::http
