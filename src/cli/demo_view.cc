#include "cli/demo_view.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace outrider::cli {
namespace {

constexpr int kLines = 6;

template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[256];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
}

double millis(Duration duration) {
    return static_cast<double>(duration.count()) / 1000;
}

unsigned long long plain(std::uint64_t value) {
    return value;
}

std::string bar(double progress) {
    constexpr int kWidth = 40;
    const int filled = std::clamp(static_cast<int>(progress * kWidth), 0, kWidth);
    std::string text = "[";
    for (int i = 0; i < kWidth; ++i) text += i < filled ? "=" : " ";
    return text + "]";
}

}  // namespace

DemoView::Rates DemoView::rates(const DemoMoment& moment, MonoTime now) {
    const double elapsed = static_cast<double>((now - last_at_).count()) / 1e6;
    if (last_at_ != MonoTime{} && elapsed > 0) {
        const auto in = static_cast<double>(moment.shop.committed - last_.shop.committed) / elapsed;
        const auto out = static_cast<double>(moment.delivered - last_.delivered) / elapsed;
        smooth_ = {smooth_.in * 0.6 + in * 0.4, smooth_.out * 0.6 + out * 0.4};
    }
    last_ = moment;
    last_at_ = now;
    return smooth_;
}

void DemoView::show(const DemoMoment& moment, MonoTime now) {
    const Rates current = rates(moment, now);
    if (options_.silent) return;
    if (options_.redraws) return draw(moment, current);
    if (now - printed_at_ < std::chrono::seconds(1)) return;
    printed_at_ = now;
    print(moment, current);
}

void DemoView::draw(const DemoMoment& moment, const Rates& rates) {
    if (drawn_) std::cout << "\033[" << kLines << "A";
    drawn_ = true;
    const auto line = [](const std::string& text) { std::cout << "\033[2K" << text << "\n"; };
    line("");
    line(format(
        "  orders     %10llu committed   %8.0f /s   %llu rolled back",
        plain(moment.shop.committed),
        rates.in,
        plain(moment.shop.rolled_back)
    ));
    line(format(
        "  messages   %10llu delivered   %8.0f /s   %llu dead letters",
        plain(moment.delivered),
        rates.out,
        plain(moment.dead)
    ));
    line(format(
        "  waiting    %10llu pending     %8.0f ms lag", plain(moment.pending), millis(moment.lag)
    ));
    line(
        moment.relay_running ? "  relay      \033[32mrunning\033[0m"
                             : "  relay      \033[31mkilled with SIGKILL; orders go on\033[0m"
    );
    line(moment.progress < 0 ? "  Ctrl-C ends it" : "  " + bar(moment.progress));
    std::cout << std::flush;
}

void DemoView::print(const DemoMoment& moment, const Rates& rates) {
    std::cout << format(
                     "committed %llu (%.0f/s)  delivered %llu (%.0f/s)  pending %llu  lag %.0f ms  "
                     "dead %llu  relay %s\n",
                     plain(moment.shop.committed),
                     rates.in,
                     plain(moment.delivered),
                     rates.out,
                     plain(moment.pending),
                     millis(moment.lag),
                     plain(moment.dead),
                     moment.relay_running ? "running" : "KILLED"
                 )
              << std::flush;
}

void DemoView::end() {
    std::cout << std::flush;
}

}  // namespace outrider::cli
