#pragma once

#include <string>

#include "outrider/time.h"

#include "cli/demo_shop.h"

namespace outrider::cli {

// What the demo shows of one moment.
struct DemoMoment {
    double progress = 0;  // 0 to 1; negative: without end
    ShopTotals shop;
    bool relay_running = false;
    std::uint64_t delivered = 0;
    std::uint64_t pending = 0;
    std::uint64_t dead = 0;
    Duration lag{0};
};

// The live view: a few lines that are redrawn on a terminal, one line a second elsewhere.
class DemoView {
public:
    struct Options {
        bool redraws = false;
        bool silent = false;
    };
    explicit DemoView(Options options) : options_(options) {}

    void show(const DemoMoment& moment, MonoTime now);
    void end();

private:
    struct Rates {
        double in = 0;
        double out = 0;
    };
    [[nodiscard]] Rates rates(const DemoMoment& moment, MonoTime now);
    void draw(const DemoMoment& moment, const Rates& rates);
    void print(const DemoMoment& moment, const Rates& rates);

    const Options options_;
    DemoMoment last_;
    MonoTime last_at_;
    MonoTime printed_at_;
    Rates smooth_;
    bool drawn_ = false;
};

}  // namespace outrider::cli
