#include "simulation/trace.h"

#include <utility>

namespace outrider::simulation {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9U;
    return hash ^ (hash >> 29U);
}

std::string moment(MonoTime now) {
    const auto micros = static_cast<std::uint64_t>(now.time_since_epoch().count());
    std::string fraction = std::to_string(micros % 1'000'000);
    fraction.insert(0, 6 - fraction.size(), '0');
    return std::to_string(micros / 1'000'000) + "." + fraction + "s ";
}

}  // namespace

void Trace::note(MonoTime now, std::string_view what, const Numbers& numbers) {
    hash_ = mix(hash_, static_cast<std::uint64_t>(now.time_since_epoch().count()));
    for (const char letter : what) hash_ = mix(hash_, static_cast<unsigned char>(letter));
    hash_ = mix(mix(mix(hash_, numbers.a), numbers.b), numbers.c);
    if (!keeps_lines_) return;
    std::string line = moment(now) + std::string(what);
    for (const std::uint64_t number : {numbers.a, numbers.b, numbers.c}) {
        line += " " + std::to_string(number);
    }
    lines_.push_back(std::move(line));
}

void Trace::remark(MonoTime now, const std::string& text) {
    if (keeps_lines_) lines_.push_back(moment(now) + text);
}

}  // namespace outrider::simulation
