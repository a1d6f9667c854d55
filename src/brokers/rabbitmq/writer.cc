#include "brokers/rabbitmq/writer.h"

#include <algorithm>

#include "core/clock.h"

namespace outrider::rabbitmq {
namespace {

constexpr std::size_t kShortBytesMax = 255;
constexpr std::uint8_t kPersistent = 2;

// Of the frame that also holds the properties and our own names.
constexpr std::size_t kReservedBytes = 2048;

// Orders to the server: further routing keys. It closes the channel where they are no lists, as our
// headers never are.
bool is_order(std::string_view name) {
    return name == "CC" || name == "BCC";
}

bool fits(std::string_view text) {
    return !text.empty() && text.size() <= kShortBytesMax;
}

}  // namespace

Writer::Writer(const RabbitmqOptions& options, Route route)
    : route_(std::move(route)),
      encoder_(options.wire, {.attribute_prefix = "cloudEvents_"}) {
}

const std::string& Writer::exchange_of(const Envelope& envelope) {
    static_cast<void>(route_.fill_in(envelope));
    return route_.exchange();
}

bool Writer::write(
    const Envelope& envelope,
    std::size_t frame_bytes_max,
    Connection::Publication& publication,
    Answer& flaw
) {
    if (const std::string_view wrong = route_.fill_in(envelope); !wrong.empty()) {
        // An operator can mend it with another target.
        flaw = {Verdict::refused, std::string(wrong)};
        return false;
    }
    encoded_ = encoder_.encode(envelope);
    const bool has_long_name =
        std::any_of(encoded_.headers.begin(), encoded_.headers.end(), [](const HeaderView& header) {
            return header.name.size() > kShortBytesMax;
        });
    if (has_long_name) {
        flaw = {Verdict::unacceptable, "a header's name has more than 255 bytes"};
        return false;
    }
    // Half written is written: the library sends the first frame before it looks at the headers.
    if (add_headers() + kReservedBytes > frame_bytes_max) {
        flaw = {
            Verdict::unacceptable,
            "the headers do not fit into a frame of " + std::to_string(frame_bytes_max) + " bytes"};
        return false;
    }
    set_properties(envelope);
    publication = {route_.exchange(), route_.routing_key(), encoded_.payload, &properties_};
    return true;
}

std::size_t Writer::add_headers() {
    constexpr std::size_t kFieldBytes = 6;  // two lengths and a kind
    headers_.clear();
    std::size_t bytes = 0;
    for (const HeaderView& header : encoded_.headers) {
        if (is_order(header.name)) continue;
        add_header(header.name, header.value);
        bytes += kFieldBytes + header.name.size() + header.value.size();
    }
    // Too long for the property of that name.
    if (encoded_.content_type.size() > kShortBytesMax) {
        add_header("content-type", encoded_.content_type);
        bytes += kFieldBytes + encoded_.content_type.size() + 12;
    }
    return bytes;
}

void Writer::add_header(std::string_view name, std::string_view value) {
    amqp_table_entry_t entry{};
    entry.key = to_bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = to_bytes(value);
    headers_.push_back(entry);
}

void Writer::set_properties(const Envelope& envelope) {
    id_ = envelope.id.to_string();
    properties_ = {};
    properties_._flags = AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG |
                         AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TIMESTAMP_FLAG;
    properties_.headers = {static_cast<int>(headers_.size()), headers_.data()};
    properties_.delivery_mode = kPersistent;
    properties_.message_id = to_bytes(id_);
    const std::int64_t millis = std::max<std::int64_t>(to_millis(envelope.occurred_at), 0);
    properties_.timestamp = static_cast<std::uint64_t>(millis / 1000);
    if (fits(encoded_.content_type)) {
        properties_._flags |= AMQP_BASIC_CONTENT_TYPE_FLAG;
        properties_.content_type = to_bytes(encoded_.content_type);
    }
    if (fits(envelope.type)) {
        properties_._flags |= AMQP_BASIC_TYPE_FLAG;
        properties_.type = to_bytes(envelope.type);
    }
}

}  // namespace outrider::rabbitmq
