#include "stores/postgres/log_id.h"

#include <chrono>

namespace outrider::postgres {
namespace {

constexpr std::uint64_t kVersion = 7;
constexpr std::uint64_t kVariant = 0b10;
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << 62U) - 1;

void put(std::array<std::uint8_t, 16>& bytes, std::size_t first, std::uint64_t number) {
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[first + i] = static_cast<std::uint8_t>(number >> (56U - 8U * i));
    }
}

}  // namespace

MessageId id_in_log(std::int64_t origin, std::int64_t seq, WallTime occurred_at) {
    using namespace std::chrono;
    const auto millis = floor<milliseconds>(occurred_at);
    const auto micros = static_cast<std::uint64_t>((occurred_at - millis) / microseconds(1));
    const auto time = static_cast<std::uint64_t>(millis.time_since_epoch().count());
    const auto number = static_cast<std::uint64_t>(seq ^ origin) & kNumberMask;
    std::array<std::uint8_t, 16> bytes{};
    put(bytes, 0, time << 16U | kVersion << 12U | micros << 2U);
    put(bytes, 8, kVariant << 62U | number);
    return MessageId(bytes);
}

}  // namespace outrider::postgres
