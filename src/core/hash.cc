#include "core/hash.h"

namespace outrider {
namespace {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;
constexpr std::uint64_t kFnvPrime = 0x100000001b3U;

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

std::uint64_t fold(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
    return hash;
}

// The length goes in between, so that ("ab", "c") and ("a", "bc") differ.
std::uint64_t hash_of(std::string_view topic, std::string_view key) {
    std::uint64_t hash = fold(kFnvOffset, topic);
    hash = (hash ^ topic.size()) * kFnvPrime;
    return mix(fold(hash, key));
}

}  // namespace

OrderKey own_order_key(std::int64_t seq) {
    return static_cast<OrderKey>(mix(static_cast<std::uint64_t>(seq) + 0x9e3779b97f4a7c15U));
}

OrderKey order_key(Order order, std::string_view topic, std::string_view key, std::int64_t seq) {
    if (order == Order::global) return 0;
    if (order == Order::none || key.empty()) return own_order_key(seq);
    return static_cast<OrderKey>(hash_of(topic, key));
}

}  // namespace outrider
