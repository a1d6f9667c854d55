#pragma once

#include <cstdint>

namespace outrider {

// Chance, for everything in the loop, so that a seed replays a run. One thread at a time.
class Dice {
public:
    virtual ~Dice() = default;

    // Evenly from 0 (included) to 1 (excluded).
    [[nodiscard]] virtual double roll() = 0;
};

// splitmix64: small, fast, the same on every machine.
class SeededDice final : public Dice {
public:
    explicit SeededDice(std::uint64_t seed) : state_(seed) {}
    [[nodiscard]] double roll() override;

    // The next 64 bits.
    [[nodiscard]] std::uint64_t next();

    // Evenly from 0 to `below` - 1; `below` is not 0.
    [[nodiscard]] std::uint64_t pick(std::uint64_t below);

    // True with this probability.
    [[nodiscard]] bool chance(double probability) { return roll() < probability; }

private:
    std::uint64_t state_;
};

// A seed from the operating system.
[[nodiscard]] std::uint64_t random_seed();

}  // namespace outrider
