#include "brokers/rabbitmq/classify.h"

#include <array>
#include <charconv>

namespace outrider::rabbitmq {
namespace {

struct Row {
    std::uint16_t code;
    Verdict verdict;
};

// Codes of AMQP 0-9-1. All others mean the server or the link, not a message.
constexpr std::array<Row, 6> kRows = {{
    {311, Verdict::unacceptable},  // CONTENT_TOO_LARGE
    {403, Verdict::refused},       // ACCESS_REFUSED: no permission to write to the exchange
    {404, Verdict::refused},       // NOT_FOUND: no such exchange
    {405, Verdict::refused},       // RESOURCE_LOCKED
    {312, Verdict::refused},       // NO_ROUTE
    {313, Verdict::refused},       // NO_CONSUMERS
}};

constexpr std::uint16_t kPreconditionFailed = 406;

std::size_t number_after(std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return 0;
    const std::string_view rest = text.substr(at + mark.size());
    std::size_t number = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    return number;
}

}  // namespace

Verdict classify(const Closure& closure) {
    if (closure.code == kPreconditionFailed) {
        const bool is_size = sizes_in(closure.text).message != 0;
        return is_size ? Verdict::unacceptable : Verdict::refused;
    }
    for (const Row& row : kRows) {
        if (row.code == closure.code) return row.verdict;
    }
    return Verdict::unanswered;
}

bool is_about(std::string_view text, std::string_view exchange, std::string_view routing_key) {
    std::string part = "exchange '" + std::string(exchange) + "' in vhost '";
    if (text.find(" to topic '") != std::string_view::npos) {
        part = " to topic '" + std::string(routing_key) + "' in " + part;
    }
    return text.find(part) != std::string_view::npos;
}

Sizes sizes_in(std::string_view text) {
    return {number_after(text, "message size "), number_after(text, "max size ")};
}

}  // namespace outrider::rabbitmq
