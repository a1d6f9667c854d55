#include "simulation/scheduler.h"

#include <algorithm>

#include "core/assert.h"

namespace outrider::simulation {

FibreNumber Scheduler::spawn(std::function<void()> body) {
    actors_.emplace_back(std::move(body));
    enter(actors_.size() - 1, now_);
    return actors_.size() - 1;
}

void Scheduler::at(MonoTime moment, std::function<void()> body) {
    timers_.push_back(std::move(body));
    queue_.push({std::max(moment, now_), dice_.next(), kTimer, timers_.size() - 1});
}

void Scheduler::sleep_until(MonoTime moment) {
    OUTRIDER_ASSERT(current_ != kTimer);
    enter(current_, std::max(moment, now_));
    actors_[current_].fibre.suspend();
}

void Scheduler::wake(FibreNumber fibre) {
    if (ended(fibre)) return;
    actors_[fibre].frozen_until = MonoTime{};
    enter(fibre, now_);
}

void Scheduler::enter(FibreNumber fibre, MonoTime moment) {
    queue_.push({moment, dice_.next(), fibre, ++actors_[fibre].version});
}

void Scheduler::run() {
    while (!queue_.empty()) {
        const Entry entry = queue_.top();
        queue_.pop();
        now_ = std::max(now_, entry.moment);
        if (entry.fibre == kTimer) {
            run_timer(entry.version);
        } else {
            run_fibre(entry);
        }
    }
}

void Scheduler::run_timer(std::size_t place) {
    const std::function<void()> body = std::move(timers_[place]);
    timers_[place] = nullptr;
    body();
}

void Scheduler::run_fibre(const Entry& entry) {
    Actor& actor = actors_[entry.fibre];
    if (entry.version != actor.version || actor.fibre.ended()) return;
    if (actor.frozen_until > now_) {
        enter(entry.fibre, actor.frozen_until);
        return;
    }
    current_ = entry.fibre;
    actor.fibre.resume();
    current_ = kTimer;
}

}  // namespace outrider::simulation
