#include "relay/worker.h"

#include <algorithm>

namespace outrider {

using Outcome = TurnReport::Outcome;

namespace {

constexpr Duration kStandsByAfter = std::chrono::seconds(3);

}  // namespace

Worker::Worker(WorkerParts parts) : parts_(parts), pace_(parts.destination.batch) {
}

void Worker::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const MonoTime next = step(stop);
        if (stop.stop_requested()) return;
        if (next > parts_.clock.now()) parts_.waker.wait(next);
    }
}

MonoTime Worker::step(const std::stop_token& stop) {
    // Whoever wakes us does not know that the store is away.
    if (parts_.clock.now() < reconnect_at_) return reconnect_at_;
    const Circuit::Permit permit = parts_.circuit.ask(parts_.clock.now());
    if (permit == Circuit::Permit::wait) return parts_.circuit.retry_at();
    probing_ = permit == Circuit::Permit::probe;
    if (!connect()) {
        // Whoever probes must report: a store that is away says nothing about the broker.
        if (permit == Circuit::Permit::probe) open_circuit(parts_.circuit.reason());
        return back_off();
    }
    if (permit == Circuit::Permit::probe && !broker_answers()) return parts_.circuit.retry_at();
    if (unsettled_ && !store_can_be_written()) return back_off();
    const TurnReport report = make_turn(*store_, *broker_, context(stop, permit));
    if (report.answered) lone_.answered();
    parts_.caution.turn_over(this, report.outcome == Outcome::idle);
    return schedule(report);
}

TurnContext Worker::context(const std::stop_token& stop, Circuit::Permit permit) {
    BatchLimits limits = pace_.limits();
    if (parts_.caution.is_careful()) limits.messages = 1;
    const bool in_process = broker_->traits().in_process;
    const bool is_lone = permit == Circuit::Permit::probe && limits.messages == 1 && !in_process;
    return {
        .destination = parts_.destination,
        .limits = limits,
        .clock = parts_.clock,
        .dice = parts_.dice,
        .observer = parts_.observer,
        .stop = stop,
        .caution = in_process ? &parts_.caution : nullptr,
        .handled = in_process ? &parts_.handled : nullptr,
        .lone = is_lone ? &lone_ : nullptr};
}

bool Worker::connect() {
    const bool is_new = store_ == nullptr;
    if (!open_broker() || !open_store()) return false;
    if (!broker_->traits().in_process) return true;
    if (!is_new && parts_.caution.is_entered()) return true;
    const Result<void> entered = parts_.caution.enter();
    if (entered) return true;
    parts_.observer.faulted(parts_.destination, Stage::open, entered.error());
    store_.reset();
    return false;
}

bool Worker::open_broker() {
    if (broker_) return true;
    Result<std::unique_ptr<Broker>> broker = parts_.broker.open();
    if (!broker) {
        parts_.observer.faulted(parts_.destination, Stage::connect, broker.error());
        return false;
    }
    broker_ = std::move(broker).value();
    return true;
}

bool Worker::open_store() {
    if (store_) return true;
    Result<std::unique_ptr<Store>> store = parts_.store.open(parts_.destination);
    if (!store) {
        parts_.observer.faulted(parts_.destination, Stage::open, store.error());
        return false;
    }
    store_ = std::move(store).value();
    return true;
}

bool Worker::broker_answers() {
    const Deadline deadline = parts_.clock.now() + parts_.destination.publish_deadline;
    const Result<void> answer = broker_->ping(deadline);
    if (!answer) open_circuit(answer.error().text);
    return answer.has_value();
}

bool Worker::store_can_be_written() {
    const Result<void> written = store_->try_writing();
    unsettled_ = !written;
    if (written) return true;
    parts_.observer.faulted(parts_.destination, Stage::settle, written.error());
    store_.reset();
    return false;
}

MonoTime Worker::schedule(const TurnReport& report) {
    const bool idle = report.outcome == Outcome::idle || report.outcome == Outcome::paused ||
                      report.outcome == Outcome::held;
    const bool failed =
        report.outcome == Outcome::store_failed || report.outcome == Outcome::unanswered;
    idle_ = idle;
    parts_.waker.looked(!idle && !failed);
    if (failed) return after_fault(report);
    reconnect_delay_ = Duration::zero();
    stand_by(report.outcome == Outcome::held);
    if (idle && has_only_silent(report)) {
        open_circuit(parts_.circuit.reason());
        return parts_.circuit.retry_at();
    }
    if (report.outcome != Outcome::held) close_circuit();  // else somebody else asks the broker
    if (idle) return after_nothing(report);
    const MonoTime now = parts_.clock.now();
    const Pace::Turn turn{
        .messages = report.messages,
        .full = report.full,
        .written = report.written,
        .store_time = report.store_time};
    return now + pace_.after(turn, now);
}

// The broker answers pings, and has answered for nothing since a message was set aside: that does
// not mean that messages flow again.
bool Worker::has_only_silent(const TurnReport& report) const {
    return probing_ && lone_.is_silent() && report.outcome == Outcome::idle && report.next_due;
}

MonoTime Worker::after_fault(const TurnReport& report) {
    if (report.outcome == Outcome::unanswered) {
        pace_.shrink();
        open_circuit(report.error.text);
        return parts_.circuit.retry_at();
    }
    if (report.answered) close_circuit();
    // Whoever lost its claim may publish again at once. Else one message is enough to see whether
    // it fails again.
    unsettled_ = report.answered && report.error.remedy != Remedy::yield;
    if (unsettled_) pace_.shrink();
    // A claim that was lost to somebody else is no fault of the connection, but whatever it
    // remembers is stale.
    store_.reset();
    return back_off();
}

MonoTime Worker::after_nothing(const TurnReport& report) {
    const MonoTime now = parts_.clock.now();
    if (report.outcome == Outcome::held) return now + parts_.options.standby_poll;
    const Duration patience = parts_.options.idle_poll;
    return now + std::clamp(report.next_due.value_or(patience), Duration::zero(), patience);
}

MonoTime Worker::back_off() {
    const RelayOptions& options = parts_.options;
    reconnect_delay_ = std::clamp(
        reconnect_delay_ * 2, options.reconnect_delay_first, options.reconnect_delay_max
    );
    const double part = 0.75 + parts_.dice.roll() / 4;
    const double delay = static_cast<double>(reconnect_delay_.count()) * part;
    reconnect_at_ = parts_.clock.now() + Duration(static_cast<Duration::rep>(delay));
    return reconnect_at_;
}

void Worker::close_circuit() {
    if (!parts_.circuit.success()) return;
    parts_.observer.circuit_changed(parts_.destination, CircuitState::closed, {});
}

void Worker::open_circuit(std::string_view reason) {
    const std::string text(reason);
    const bool changed = parts_.circuit.failure(parts_.clock.now(), text, parts_.dice);
    if (changed) parts_.observer.circuit_changed(parts_.destination, CircuitState::open, text);
}

// Where relays take turns on a destination, each is held up now and then: not worth a word.
void Worker::stand_by(bool held) {
    const MonoTime now = parts_.clock.now();
    if (!held) held_since_.reset();
    if (held && !held_since_) held_since_ = now;
    const bool standing_by = held && now - *held_since_ >= kStandsByAfter;
    if (standing_by == standing_by_) return;
    standing_by_ = standing_by;
    parts_.observer.standing_by(parts_.destination, standing_by);
}

}  // namespace outrider
