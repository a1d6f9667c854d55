#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace outrider::cli {

// What the shop knows of its own doing. Evidence for the report, independent of anything the relay
// writes.
struct ShopTotals {
    std::uint64_t committed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t oversized = 0;  // committed, but with a payload no broker would take
};

// The order service of the demo: a few clerks with a connection each write an order and its message
// in one transaction, and change their mind about some of them.
class DemoShop {
public:
    // The database must be migrated.
    explicit DemoShop(std::string path) : path_(std::move(path)) {}

    // Creates the table of orders.
    void open();

    // Until stop().
    void start();
    void stop();

    [[nodiscard]] ShopTotals totals() const;

    // The largest payload that the demo's destination takes.
    static constexpr std::size_t kPayloadBytesMax = 4096;

private:
    void work(std::uint64_t clerk, const std::stop_token& stop);

    const std::string path_;
    std::atomic<std::uint64_t> committed_ = 0;
    std::atomic<std::uint64_t> rolled_back_ = 0;
    std::atomic<std::uint64_t> oversized_ = 0;
    std::vector<std::jthread> clerks_;
};

}  // namespace outrider::cli
