#pragma once

#include <cstdint>
#include <string>

#include "cli/demo_shop.h"
#include "core/result.h"

namespace outrider::cli {

// Orders against deliveries.
struct DemoReport {
    ShopTotals shop;
    std::uint64_t delivered = 0;     // different messages that arrived
    std::uint64_t dead = 0;          // dead letters of orders in the table
    std::uint64_t lost = 0;          // in the table, neither delivered nor dead
    std::uint64_t phantom = 0;       // delivered, not in the table
    std::uint64_t repeated = 0;      // deliveries beyond the first
    std::uint64_t out_of_order = 0;  // first deliveries behind a later one of the same customer
    std::uint64_t kills = 0;
    std::uint64_t in_flight_max = 0;  // what one kill may repeat

    [[nodiscard]] bool is_good() const {
        return lost == 0 && phantom == 0 && out_of_order == 0 && repeated <= kills * in_flight_max;
    }
};

// Compares the table of orders with the lines that arrived: producer and consumer evidence, nothing
// of Outrider's own but the list of dead letters. Fills in what it finds.
[[nodiscard]] Result<void> compare(
    const std::string& database,
    const std::string& delivered,
    DemoReport& report
);

[[nodiscard]] std::string to_text(const DemoReport& report);
[[nodiscard]] std::string to_json(const DemoReport& report);

}  // namespace outrider::cli
