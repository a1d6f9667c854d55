#include "core/dice.h"

#include <random>

namespace outrider {

std::uint64_t SeededDice::next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

double SeededDice::roll() {
    return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

std::uint64_t SeededDice::pick(std::uint64_t below) {
    return next() % below;
}

std::uint64_t random_seed() {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32U) ^ device();
}

}  // namespace outrider
