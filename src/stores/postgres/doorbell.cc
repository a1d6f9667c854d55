#include "stores/postgres/doorbell.h"

#include <algorithm>
#include <array>

#include <poll.h>
#include <sys/eventfd.h>

namespace outrider::postgres {
namespace {

constexpr Duration kPauseFirst = std::chrono::milliseconds(1);
constexpr Duration kPauseMax = std::chrono::milliseconds(100);

// While there is so much traffic that every look finds something.
constexpr Duration kPauseBusy = std::chrono::milliseconds(1);

// Between two looks whether an early transaction has ended.
constexpr Duration kUnendedPauseMax = std::chrono::milliseconds(50);

constexpr Duration kReconnectPause = std::chrono::seconds(1);

}  // namespace

// What one worker sleeps on.
class Doorbell::Sleeper final : public Waker {
public:
    explicit Sleeper(std::shared_ptr<Doorbell> doorbell) : doorbell_(std::move(doorbell)) {}

    void wait(MonoTime until) override {
        std::unique_lock lock(doorbell_->mutex_);
        const auto is_called = [&] { return rung_ || seen_ != doorbell_->looks_; };
        // Whoever has found something rests for as long as it asks.
        if (!found_) until = std::min(until, next_look());
        doorbell_->condition_.wait_until(lock, until, is_called);
        rung_ = false;
        // Read before the look, so that a ring during it is not lost.
        seen_ = doorbell_->looks_;
    }

    void ring() override {
        {
            const std::lock_guard lock(doorbell_->mutex_);
            rung_ = true;
        }
        doorbell_->condition_.notify_all();
    }

    void looked(bool found) override {
        found_ = found;
        if (found) pause_.found();
    }

private:
    // Unasked, since nobody rings.
    [[nodiscard]] MonoTime next_look() {
        const MonoTime now = doorbell_->clock_.now();
        if (doorbell_->state_ == State::raised) return MonoTime::max();
        return now + (doorbell_->state_ == State::lowered ? kPauseBusy : pause_.next());
    }

    const std::shared_ptr<Doorbell> doorbell_;
    LookPause pause_{kPauseFirst, kPauseMax};
    bool found_ = false;
    bool rung_ = false;
    std::uint64_t seen_ = 0;
};

Doorbell::Doorbell(StoreOptions options, Names names, Observer& observer)
    : options_(std::move(options)),
      names_(std::move(names)),
      observer_(observer),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (options_.wake == Wake::poll) return;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Doorbell::~Doorbell() {
    thread_.request_stop();
    ::eventfd_write(stop_.get(), 1);
}

std::unique_ptr<Waker> Doorbell::make_waker(std::shared_ptr<Doorbell> doorbell) {
    return std::make_unique<Sleeper>(std::move(doorbell));
}

void Doorbell::rouse(State state) {
    {
        const std::lock_guard lock(mutex_);
        state_ = state;
        ++looks_;
    }
    condition_.notify_all();
}

void Doorbell::pause_until(MonoTime until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.now());
    std::array<pollfd, 1> fds = {{{.fd = stop_.get(), .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
}

void Doorbell::say_once(const std::string& text) {
    if (said_ == text) return;
    said_ = text;
    observer_.store_noted(text);
}

void Doorbell::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const Result<void> served = serve(stop);
        if (stop.stop_requested()) return;
        rouse(State::away);
        say_once("polling, since nobody can ring: " + served.error().text);
        // A pooler stays where it is; a server comes back.
        if (served.error().remedy == Remedy::correct) return;
        pause_until(clock_.now() + kReconnectPause);
    }
}

Result<void> Doorbell::serve(const std::stop_token& stop) {
    Result<BellLine> line = BellLine::open(options_.conninfo, names_);
    // Whoever is refused today may be let in tomorrow.
    if (!line) return Error{Remedy::wait, line.error().text};
    if (line->is_deaf()) {
        return Error{
            Remedy::correct, "a pooler stands between us and the server, and cannot pass it on"};
    }
    if (Result<void> raised = raise(*line); !raised) return raised;
    said_.clear();
    while (!stop.stop_requested()) {
        // Only this thread changes the state.
        Result<void> done = state_ == State::raised ? attend(*line) : watch_traffic(*line);
        if (!done) return done;
    }
    // Writers must not ring for somebody who has left.
    return state_ == State::raised ? line->lower() : Result<void>();
}

Result<void> Doorbell::raise(BellLine& line) {
    if (Result<void> raised = line.raise(); !raised) return raised;
    unended_pause_ = kPauseFirst;
    rate_ = RingRate();
    rouse(State::raised);
    return {};
}

Result<void> Doorbell::attend(BellLine& line) {
    const bool unended = line.has_unended();
    const Duration patience = unended ? unended_pause_ : Duration(std::chrono::minutes(1));
    const Result<int> rings = line.listen(stop_.get(), clock_.now() + patience);
    if (!rings) return rings.error();
    if (*rings > 0) rouse(State::raised);
    if (unended) {
        unended_pause_ = std::min(unended_pause_ * 2, kUnendedPauseMax);
        const Result<bool> ended = line.has_one_ended();
        if (!ended) return ended.error();
        if (*ended) rouse(State::raised);
    }
    const Result<bool> crowded = is_crowded(line, *rings);
    if (!crowded) return crowded.error();
    if (!*crowded) return {};
    rouse(State::lowered);
    if (Result<void> lowered = line.lower(); !lowered) return lowered;
    const Result<std::int64_t> traffic = line.traffic();
    if (!traffic) return traffic.error();
    traffic_ = *traffic;
    return {};
}

// Whether writers wait for each other because of us.
Result<bool> Doorbell::is_crowded(BellLine& line, int rings) {
    if (options_.wake == Wake::notify) return false;
    const RingRate::Crowd crowd = rate_.count(static_cast<unsigned>(rings), clock_.now());
    if (crowd != RingRate::Crowd::perhaps) return crowd == RingRate::Crowd::sure;
    const Result<std::int64_t> waiting = line.waiting();
    if (!waiting) return waiting.error();
    return RingRate::is_too_many(*waiting);
}

Result<void> Doorbell::watch_traffic(BellLine& line) {
    pause_until(clock_.now() + RingRate::kSpan);
    const Result<std::int64_t> traffic = line.traffic();
    if (!traffic) return traffic.error();
    const bool quiet = RingRate::is_quiet(*traffic - std::exchange(traffic_, *traffic));
    return quiet ? raise(line) : Result<void>();
}

}  // namespace outrider::postgres
