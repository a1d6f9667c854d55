#include "brokers/http/flight.h"

#include "brokers/wire/answers.h"
#include "brokers/wire/socket.h"

namespace outrider::http {

void Flight::make() {
    begin_more();
    while (parts_.link.active() > 0) {
        if (wire::millis_left(parts_.deadline) == 0) {
            outage_ = "no answer before the deadline";
            break;
        }
        for (const Link::Done& done : parts_.link.advance(parts_.deadline)) {
            const Range range = under_way_.at(done.transfer);
            under_way_.erase(done.transfer);
            take(range, done.transfer->answer(done.code));
        }
        begin_more();
    }
    parts_.link.abort();
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
    if (!alone_.empty()) {
        range = {alone_.back(), 1};
        alone_.pop_back();
        return true;
    }
    const std::span<const Envelope> rest = parts_.envelopes.subspan(next_);
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
    if (!parts_.writer.write(envelopes, request, flaw)) return take(range, flaw);
    const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(parts_.options.timeout);
    transfer.post(std::move(request), std::min(left, timeout));
    parts_.link.begin(transfer);
    under_way_.emplace(&transfer, range);
}

void Flight::take(Range range, const Answer& answer) {
    if (answer.verdict == Verdict::unanswered && outage_.empty()) outage_ = answer.reason;
    const bool is_divided = range.count > 1 && answer.verdict == Verdict::unacceptable;
    for (std::size_t place = range.first; place < range.first + range.count; ++place) {
        if (is_divided) {
            alone_.push_back(place);
        } else {
            parts_.answers[place] = answer;
        }
    }
}

}  // namespace outrider::http
