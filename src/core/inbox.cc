#include "outrider/inbox.h"

#include <algorithm>
#include <charconv>

#include "outrider/error.h"

#include "core/text.h"

namespace outrider {
namespace {

std::optional<std::int64_t> read_position(std::string_view text) {
    std::int64_t position = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, position);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return position;
}

}  // namespace

Arrival Arrival::of(const Delivery& delivery) {
    Arrival arrival(delivery.id);
    arrival.topic = delivery.topic;
    arrival.key = delivery.key;
    const auto header =
        std::find_if(delivery.headers.begin(), delivery.headers.end(), [](const Header& h) {
            return h.name == kPositionHeader;
        });
    if (header != delivery.headers.end()) arrival.position = read_position(header->value);
    return arrival;
}

Receipt judge(
    bool is_new,
    std::optional<std::int64_t> position,
    std::optional<std::int64_t> previous
) {
    Receipt receipt;
    receipt.first = is_new;
    if (!is_new || !position || !previous) return receipt;
    receipt.late = *position <= *previous;
    // Unsigned, since the two may lie further apart than a signed number reaches.
    const std::uint64_t ahead =
        static_cast<std::uint64_t>(*position) - static_cast<std::uint64_t>(*previous);
    constexpr auto kMost = static_cast<std::uint64_t>(INT64_MAX);
    if (!receipt.late) receipt.missing = static_cast<std::int64_t>(std::min(ahead - 1, kMost));
    return receipt;
}

void validate(std::string_view consumer, const Arrival& arrival) {
    if (!is_plain_name(consumer)) {
        throw Failure(
            {Remedy::correct,
             "the consumer's name must have 1 to 63 characters: letters, digits and - _ . : *"}
        );
    }
    if (arrival.id.is_nil()) {
        throw Failure(
            {Remedy::correct,
             "the message has no id, so nobody could tell a repeat: give it the id it was "
             "enqueued with (the broker delivers it as outrider-id)"}
        );
    }
}

void check_gap(const Arrival& arrival, const Receipt& receipt, const InboxOptions& options) {
    if (receipt.missing == 0 || options.on_gap == OnGap::go_on) return;
    throw Failure(
        {Remedy::wait,
         "message " + arrival.id.to_string() + " has position " +
             std::to_string(arrival.position.value_or(0)) + ", but " +
             std::to_string(receipt.missing) +
             " before it in its key have not come: take it again later"}
    );
}

}  // namespace outrider
