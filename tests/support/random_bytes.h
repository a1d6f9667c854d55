#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "support/environment.h"

namespace outrider {

// Payloads of any bytes: most are short, one in a hundred has some thousand. PAYLOADS says how many
// a test takes, RANDOM_SEED makes a run the same again.
class RandomBytes {
public:
    [[nodiscard]] std::uint64_t seed() const { return seed_; }

    [[nodiscard]] std::vector<std::string> payloads() {
        std::vector<std::string> payloads(number_from("PAYLOADS", 10'000));
        for (std::string& payload : payloads) payload = bytes(dice_() % 100 == 0 ? 5000 : 60);
        return payloads;
    }

private:
    std::string bytes(std::size_t most) {
        std::string bytes(dice_() % (most + 1), '\0');
        for (char& byte : bytes) byte = static_cast<char>(dice_() % 256);
        return bytes;
    }

    std::uint64_t seed_ = number_from("RANDOM_SEED", std::random_device{}());
    std::mt19937_64 dice_{seed_};
};

}  // namespace outrider
