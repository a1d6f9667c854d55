#include "relay/keeper.h"

#include <algorithm>

namespace outrider {
namespace {

constexpr Duration kRound = std::chrono::milliseconds(500);
constexpr Duration kCleanUpPause = std::chrono::seconds(10);

// Another relay of the destination may have noted something else meanwhile, and have gone.
constexpr Duration kNoteAgain = std::chrono::seconds(10);

// Small enough that no writer waits long for the piece before it.
constexpr std::size_t kPiece = 1000;

// Clean-up takes at most a fifth of the time, whatever a piece costs here.
constexpr int kRestFactor = 4;

}  // namespace

MonoTime Keeper::step() {
    const MonoTime next_round = clock_.now() + kRound;
    if (!connect()) return next_round;
    note_circuits();
    if (!admin_) return next_round;  // clean-up may be long due, and must wait for the store
    if (clock_.now() < clean_up_at_) return std::min(next_round, clean_up_at_);
    clean_up_at_ = clean_up();
    return std::min(next_round, clean_up_at_);
}

void Keeper::finish() {
    if (connect()) note_circuits();
}

bool Keeper::connect() {
    if (admin_) return true;
    Result<std::unique_ptr<StoreAdmin>> admin = store_.open_admin(StoreDriver::IfMissing::fail);
    if (admin) admin_ = std::move(admin).value();
    // Perhaps the workers are connected and the keeper alone is not.
    if (!admin && !has_said_away_) observer_.clean_up_failed(admin.error());
    has_said_away_ = !admin;
    return admin_ != nullptr;
}

void Keeper::note_circuits() {
    for (Watched& watched : watched_) {
        const CircuitState state = watched.circuit->state();
        // A relay that stands by knows nothing of the broker.
        if (!watched.circuit->is_tried()) continue;
        // Half-open lasts a moment; nobody wants to read about it.
        if (state == CircuitState::half_open) continue;
        if (watched.noted == state && clock_.now() < watched.note_again_at) continue;
        const Result<void> noted =
            admin_->note_circuit(watched.destination->name, state, watched.circuit->reason());
        if (!noted) return fail(noted.error());
        watched.noted = state;
        watched.note_again_at = clock_.now() + kNoteAgain;
    }
}

MonoTime Keeper::clean_up() {
    const MonoTime start = clock_.now();
    const Result<std::uint64_t> removed = admin_->clean_up(options_.retention, kPiece);
    if (!removed) return fail_clean_up(removed.error());
    if (*removed > 0) observer_.cleaned_up(*removed);
    const Result<std::uint64_t> forgotten = admin_->clean_inbox(kPiece);
    if (!forgotten) return fail_clean_up(forgotten.error());
    if (*forgotten > 0) observer_.inbox_cleaned_up(*forgotten);
    const MonoTime now = clock_.now();
    const bool more = *removed >= kPiece || *forgotten >= kPiece;
    return more ? now + (now - start) * kRestFactor : now + kCleanUpPause;
}

MonoTime Keeper::fail_clean_up(const Error& error) {
    fail(error);
    return clock_.now() + kCleanUpPause;
}

void Keeper::fail(const Error& error) {
    observer_.clean_up_failed(error);
    admin_.reset();
}

}  // namespace outrider
