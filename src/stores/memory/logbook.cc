#include "stores/memory/logbook.h"

namespace outrider {
namespace {

Error forgotten() {
    return {Remedy::yield, "the destination was forgotten by the operator"};
}

}  // namespace

DestinationState* MemoryLogbook::state() {
    const auto entry = database_->destinations_.find(destination_);
    return entry == database_->destinations_.end() ? nullptr : &entry->second;
}

MemoryLogbook::~MemoryLogbook() {
    const std::lock_guard lock(database_->mutex_);
    DestinationState* state = this->state();
    if (state == nullptr) return;
    const auto session = state->sessions.find(session_);
    if (session != state->sessions.end()) session->second.alive = false;
}

Result<Legacy> MemoryLogbook::enter() {
    const std::lock_guard lock(database_->mutex_);
    DestinationState* state = this->state();
    if (state == nullptr) return forgotten();
    state->sessions[session_].alive = true;
    Legacy legacy;
    for (auto& [seq, mark] : state->marks) {
        if (!mark.session) {
            legacy.marks.push_back({seq, mark.ends, false});
        } else if (!state->sessions[*mark.session].alive) {
            legacy.marks.push_back({seq, mark.ends, true});
            mark.session = session_;
        }
    }
    legacy.ended = static_cast<std::uint32_t>(std::erase_if(state->sessions, [&](const auto& s) {
        if (s.second.alive) return false;
        legacy.unexplained = legacy.unexplained || s.second.unexplained;
        return true;
    }));
    return legacy;
}

Result<void> MemoryLogbook::write(const Page& page) {
    const std::lock_guard lock(database_->mutex_);
    DestinationState* state = this->state();
    if (state == nullptr) return forgotten();
    for (const std::int64_t seq : page.erased) state->marks.erase(seq);
    for (const Mark& mark : page.marks) {
        state->marks[mark.seq] = {mark.ends, mark.in_hand ? std::optional(session_) : std::nullopt};
    }
    state->sessions[session_].unexplained = page.unexplained;
    return {};
}

Result<void> MemoryLogbook::leave() {
    const std::lock_guard lock(database_->mutex_);
    DestinationState* state = this->state();
    if (state == nullptr) return forgotten();
    for (auto& [seq, mark] : state->marks) {
        if (mark.session == session_) mark.session.reset();
    }
    state->sessions.erase(session_);
    return {};
}

}  // namespace outrider
