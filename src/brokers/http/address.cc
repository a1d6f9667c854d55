#include "brokers/http/address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace outrider::http {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

struct Block {
    Bytes start;
    unsigned bits;
};

// IANA's special-purpose registries, as far as nobody's public receiver can be there.
constexpr std::array<Block, 15> kV4 = {{
    {{0}, 8},
    {{10}, 8},
    {{100, 64}, 10},
    {{127}, 8},
    {{169, 254}, 16},
    {{172, 16}, 12},
    {{192, 0, 0}, 24},
    {{192, 0, 2}, 24},
    {{192, 88, 99}, 24},
    {{192, 168}, 16},
    {{198, 18}, 15},
    {{198, 51, 100}, 24},
    {{203, 0, 113}, 24},
    {{224}, 4},
    {{240}, 4},
}};

constexpr std::array<Block, 6> kV6 = {{
    {{0x01, 0x00}, 64},
    {{0x20, 0x01, 0x0d, 0xb8}, 32},
    {{0xfc}, 7},
    {{0xfe, 0x80}, 10},
    {{0xfe, 0xc0}, 10},
    {{0xff}, 8},
}};

// Where an IPv4 address is carried in an IPv6 one, and from which byte on.
struct Carrier {
    Block block;
    std::size_t at;
};
constexpr std::array<Carrier, 5> kCarriers = {{
    {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12},
    {{{0}, 96}, 12},  // also the unspecified address and ::1, as 0.0.0.0 and 0.0.0.1
    {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12},
    {{{0x20, 0x02}, 16}, 2},
    {{{0x00, 0x64, 0xff, 0x9b, 0, 1}, 96}, 12},
}};

bool is_in(const Bytes& address, const Block& block) {
    const std::size_t whole = block.bits / 8;
    if (!std::equal(address.begin(), address.begin() + whole, block.start.begin())) return false;
    const unsigned rest = block.bits % 8;
    if (rest == 0) return true;
    const unsigned mask = 0xffU << (8 - rest) & 0xffU;
    return (address[whole] & mask) == (block.start[whole] & mask);
}

template <std::size_t size>
bool is_in_any(const Bytes& address, const std::array<Block, size>& blocks) {
    return std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
        return is_in(address, block);
    });
}

bool is_private_v6(const Bytes& address) {
    if (is_in_any(address, kV6)) return true;
    return std::any_of(kCarriers.begin(), kCarriers.end(), [&](const Carrier& carrier) {
        if (!is_in(address, carrier.block)) return false;
        Bytes inner{};
        std::copy_n(address.begin() + static_cast<std::ptrdiff_t>(carrier.at), 4, inner.begin());
        return is_in_any(inner, kV4);
    });
}

}  // namespace

bool is_private(const sockaddr& address) {
    Bytes bytes{};
    if (address.sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        std::memcpy(bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
        return is_in_any(bytes, kV4);
    }
    if (address.sa_family != AF_INET6) return true;
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return is_private_v6(bytes);
}

bool is_private_literal(const std::string& host) {
    Bytes bytes{};
    if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return is_in_any(bytes, kV4);
    if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) return is_private_v6(bytes);
    return false;
}

std::string to_text(const sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    } else if (address.sa_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &address, sizeof v6);
        ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    }
    return text.data();
}

}  // namespace outrider::http
