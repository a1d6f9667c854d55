#include "brokers/http/flight.h"

#include <algorithm>

#include "brokers/http/classify.h"
#include "brokers/wire/answers.h"
#include "brokers/wire/socket.h"

namespace outrider::http {

void Flight::make() {
    begin_more();
    while (parts_.link.active() > 0) {
        if (wire::millis_left(parts_.deadline) == 0) {
            outage_ = "no answer before the deadline";
            take_late();
            break;
        }
        for (const Link::Done& done : parts_.link.advance(parts_.deadline)) {
            const Range range = under_way_.at(done.transfer);
            under_way_.erase(done.transfer);
            hear(range, *done.transfer, done.code);
        }
        begin_more();
    }
    parts_.link.abort();
    if (outage_.empty()) {
        for (const Refused& one : refused_) settle(one.range, one.answer);
    }
    forgive();
    wire::explain(parts_.answers, outage_);
}

void Flight::begin_more() {
    while (outage_.empty()) {
        Transfer* const transfer = parts_.link.free_transfer();
        Range range;
        if (transfer == nullptr || !next(range)) return;
        begin(*transfer, range);
    }
}

bool Flight::next(Range& range) {
    const std::span<const Envelope> rest = parts_.envelopes.subspan(next_);
    if (rest.empty() && pieces_.empty()) divide_refused();
    if (!pieces_.empty()) {
        range = pieces_.back();
        pieces_.pop_back();
        return true;
    }
    if (rest.empty()) return false;
    range = {next_, parts_.writer.fitting(rest)};
    next_ += range.count;
    return true;
}

void Flight::begin(Transfer& transfer, Range range) {
    const auto left = std::chrono::milliseconds(wire::millis_left(parts_.deadline));
    if (left.count() == 0) {
        outage_ = "the deadline has passed";
        return;
    }
    Request request;
    Answer flaw;
    const auto envelopes = parts_.envelopes.subspan(range.first, range.count);
    if (!parts_.writer.write(envelopes, request, flaw)) return take(range, flaw, false);
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(parts_.options.timeout);
    transfer.post(std::move(request), std::min(left, timeout));
    parts_.link.begin(transfer);
    under_way_.emplace(&transfer, range);
}

void Flight::hear(Range range, const Transfer& transfer, CURLcode code) {
    const long status = transfer.status(code);
    if (is_turned_away(status)) {
        parts_.door.turn_away(transfer.url());
        turned_away_.push_back(range);
    } else if (status != 0) {
        was_let_in_ = true;
    }
    take(range, transfer.answer(code), concerns_content(status));
}

void Flight::take(Range range, const Answer& answer, bool is_about_content) {
    if (answer.verdict == Verdict::unanswered && outage_.empty()) outage_ = answer.reason;
    if (answer.verdict == Verdict::acknowledged) has_acknowledged_ = true;
    // What is unacceptable is dead at once, so nobody is called so in company.
    if (range.count > 1 && answer.verdict == Verdict::unacceptable) return divide(range);
    if (range.count == 1 || !is_about_content) return settle(range, answer);
    refused_.push_back({range, answer});
}

// Whoever has given a status and is not done with the body has answered.
void Flight::take_late() {
    for (const auto& [transfer, range] : under_way_) {
        if (transfer->status(CURLE_OPERATION_TIMEDOUT) == 0) continue;
        hear(range, *transfer, CURLE_OPERATION_TIMEDOUT);
    }
}

void Flight::settle(Range range, const Answer& answer) {
    const auto answers = parts_.answers.subspan(range.first, range.count);
    std::fill(answers.begin(), answers.end(), answer);
    if (range.count == 1 && answer.verdict == Verdict::refused) has_refused_one_ = true;
}

void Flight::divide(Range range) {
    const std::size_t half = range.count / 2;
    pieces_.push_back({range.first + half, range.count - half});
    pieces_.push_back({range.first, half});
}

// A receiver that acknowledges others has something against single messages: all batches are
// divided. One that has acknowledged nothing so far may refuse everything, and posting each message
// by itself would be twice the load on somebody who is in trouble.
void Flight::divide_refused() {
    const bool searches = under_way_.empty() && !has_refused_one_;
    while (!refused_.empty() && (has_acknowledged_ || (searches && pieces_.empty()))) {
        divide(refused_.back().range);
        refused_.pop_back();
    }
}

// Down, or it has locked us out. What was asked for with Retry-After goes with the refusal: the
// relay has delays of its own for an outage.
void Flight::forgive() {
    if (was_let_in_) return parts_.door.let_in();
    if (!parts_.door.is_shut()) return;
    for (const Range& range : turned_away_) {
        for (Answer& answer : parts_.answers.subspan(range.first, range.count)) {
            answer = {Verdict::unanswered, std::move(answer.reason), {}};
        }
    }
}

}  // namespace outrider::http
