#include "relay/caution.h"

#include <algorithm>

#include "core/dice.h"

namespace outrider {

Caution::Caution(const Destination& destination, StoreDriver& store, Clock& clock)
    : destination_(destination),
      store_(store),
      clock_(clock),
      session_(random_seed()),
      place_(destination.batch.messages * destination.workers) {
}

Result<void> Caution::open() {
    Result<std::unique_ptr<Logbook>> logbook = store_.open_logbook(destination_, session_);
    if (!logbook) return logbook.error();
    logbook_ = std::move(logbook).value();
    return {};
}

Result<void> Caution::enter() {
    const std::lock_guard lock(mutex_);
    entered_ = false;
    if (!logbook_) {
        if (Result<void> opened = open(); !opened) return opened;
    }
    if (!logbook_) {  // a store without one
        entered_ = true;
        return {};
    }
    Result<Legacy> legacy = logbook_->enter();
    if (!legacy) {
        logbook_.reset();
        return legacy.error();
    }
    const Suspicion suspicion = suspect(*legacy);
    adopt(suspicion, legacy->lag);
    if (Result<void> written = write(suspicion.marks); !written) return written;
    entered_ = true;
    return {};
}

void Caution::adopt(const Suspicion& suspicion, Duration lag) {
    for (const Mark& mark : suspicion.marks) {
        if (!erased_.contains(mark.seq)) ends_[mark.seq] = mark.ends;
    }
    if (suspicion.careful) {
        careful_ = true;
        unexplained_ = suspicion.unexplained;
        visible_at_ = clock_.now() + lag;
        survived_ = 0;
        idle_workers_.clear();
    }
    look_around();
}

void Caution::look_around() {
    attentive_ = careful_ || !ends_.empty() || !erased_.empty();
}

void Caution::leave() {
    const std::lock_guard lock(mutex_);
    if (!logbook_) return;
    if (entered_ && write({})) {
        [[maybe_unused]] const Result<void> left = logbook_->leave();
    }
    logbook_.reset();
    entered_ = false;
}

// A page that fails is lost with its connection: enter() begins a new one.
Result<void> Caution::write(std::vector<Mark> marks) {
    Page page;
    page.unexplained = unexplained_;
    for (const Mark& mark : marks) erased_.erase(mark.seq);
    page.marks = std::move(marks);
    page.erased.assign(erased_.begin(), erased_.end());
    Result<void> written = logbook_->write(page);
    if (written) {
        erased_.clear();
    } else {
        entered_ = false;
        logbook_.reset();
    }
    look_around();
    return written;
}

std::optional<Answer> Caution::admit(const Envelope& envelope) {
    if (!attentive_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (!logbook_) return Answer{Verdict::unanswered, "the store does not answer"};
    const auto known = ends_.find(envelope.seq);
    const std::uint32_t ends = known == ends_.end() ? 0 : known->second;
    const Passage passage = passage_of(ends, careful_);
    if (passage == Passage::plain) return std::nullopt;
    Mark mark{envelope.seq, ends, true};
    if (passage == Passage::refuse) mark = {envelope.seq, kEndsMax - 1, false};
    if (Result<void> written = write({mark}); !written) {
        return Answer{Verdict::unanswered, written.error().text};
    }
    ends_[envelope.seq] = mark.ends;
    if (passage == Passage::marked) return std::nullopt;
    return Answer{Verdict::refused, reason_of(ends)};
}

void Caution::survived(const Envelope& envelope) {
    if (!attentive_) return;
    const std::lock_guard lock(mutex_);
    if (ends_.erase(envelope.seq) > 0) erased_.insert(envelope.seq);
    if (!careful_ || clock_.now() < visible_at_) return;
    if (++survived_ >= place_) pass_the_place();
}

void Caution::turn_over(const void* worker, bool was_idle) {
    if (!attentive_) return;
    const std::lock_guard lock(mutex_);
    if (was_idle && clock_.now() >= visible_at_) idle_workers_.insert(worker);
    if (careful_ && idle_workers_.size() >= destination_.workers) pass_the_place();
    if (!logbook_ || erased_.empty()) return look_around();
    [[maybe_unused]] const Result<void> written = write({});
}

void Caution::pass_the_place() {
    careful_ = false;
    unexplained_ = false;
    if (!logbook_) return look_around();
    [[maybe_unused]] const Result<void> written = write({});
}

}  // namespace outrider
