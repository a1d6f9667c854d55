#include "stores/table/waker.h"

#include <algorithm>

namespace outrider::table {

void PollingWaker::wait(MonoTime until) {
    bell_.wait(std::min(until, clock_.now() + pause_.next()));
}

void PollingWaker::looked(bool found) {
    if (found) pause_.found();
}

}  // namespace outrider::table
