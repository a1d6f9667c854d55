#include "simulation/people.h"

#include <algorithm>

namespace outrider::simulation {

void Producers::start() {
    for (std::size_t i = 0; i < world_.scenario.producers; ++i) {
        fibres_.push_back(world_.scheduler.spawn([this] { produce(); }));
    }
}

bool Producers::have_ended() const {
    return std::all_of(fibres_.begin(), fibres_.end(), [this](FibreNumber fibre) {
        return world_.scheduler.ended(fibre);
    });
}

void Producers::produce() {
    for (std::size_t i = 0; i < world_.scenario.transactions; ++i) {
        world_.step(world_.scenario.write_pause);
        write_transaction();
    }
}

void Producers::write_transaction() {
    const std::uint64_t begun = ++transactions_;
    const Drafts drafts = draw_drafts();
    lock_keys(drafts);
    std::vector<Message> messages;
    const std::size_t first = world_.history.written.size();
    for (const Draft& draft : drafts) messages.push_back(write(draft));
    world_.step(world_.scenario.write_pause);
    if (world_.dice.chance(world_.scenario.rolled_back)) {
        if (world_.bug == Bug::rollback_published) world_.commit(std::move(messages));
    } else {
        ++moment_;
        for (std::size_t i = 0; i < drafts.size(); ++i) {
            world_.history.written[first + i].committed = moment_;
            world_.history.written[first + i].committed_at = world_.scheduler.now();
        }
        end_transaction(std::move(messages), begun);
    }
    unlock_keys(drafts);
}

void Producers::end_transaction(std::vector<Message> messages, std::size_t begun) {
    // A reader that goes by numbers drawn at the beginning never sees who commits after a later
    // one.
    const bool overtaken = begun < newest_visible_;
    newest_visible_ = std::max(newest_visible_, begun);
    if (world_.bug == Bug::late_commit_lost && overtaken) return;
    world_.note("commit", begun, messages.size());
    world_.commit(std::move(messages));
}

Producers::Drafts Producers::draw_drafts() {
    Drafts drafts(1 + world_.dice.pick(world_.scenario.messages_max));
    for (Draft& draft : drafts) {
        draft.topic = kTopics[world_.dice.pick(std::size(kTopics))];
        if (world_.dice.chance(world_.scenario.keyless)) continue;
        draft.key = "k" + std::to_string(world_.dice.pick(world_.scenario.keys));
    }
    return drafts;
}

void Producers::lock_keys(const Drafts& drafts) {
    while (!try_lock(drafts)) world_.step(std::chrono::milliseconds(5));
}

// All of them or none, so that nobody waits for each other.
bool Producers::try_lock(const Drafts& drafts) {
    for (const Draft& draft : drafts) {
        if (!draft.key.empty() && keys_[draft.topic + "/" + draft.key].locked) return false;
    }
    for (const Draft& draft : drafts) keys_[draft.topic + "/" + draft.key].locked = true;
    return true;
}

void Producers::unlock_keys(const Drafts& drafts) {
    for (const Draft& draft : drafts) keys_[draft.topic + "/" + draft.key].locked = false;
}

Message Producers::write(const Draft& draft) {
    const std::size_t number = world_.history.written.size();
    Message message;
    message.id = world_.id_of(number);
    message.topic = draft.topic;
    message.key = draft.key;
    message.type = "t" + std::to_string(number % 3);
    message.payload = std::string(world_.dice.pick(world_.scenario.payload_bytes_max + 1), 'x');
    message.headers = {{"number", std::to_string(number)}};
    if (world_.dice.chance(world_.scenario.deferred)) {
        message.deliver_after = world_.clock->wall() + world_.up_to(std::chrono::seconds(2));
    }
    Written written;
    written.id = *message.id;
    written.topic = draft.topic;
    written.key = draft.key;
    written.digest = digest_of(message);
    written.position = ++keys_[draft.topic + "/" + draft.key].position;
    written.payload_bytes = message.payload.size();
    written.deliver_after = message.deliver_after;
    written.written = ++moment_;
    world_.history.written.push_back(std::move(written));
    return message;
}

Operator::Operator(World& world) : world_(world) {
    admin_ = std::move(world.database->open_admin(StoreDriver::IfMissing::fail)).value();
}

void Operator::pause(std::size_t destination, bool paused) {
    const std::string& name = world_.scenario.places[destination].destination.name;
    const Result<bool> known = admin_->set_paused(name, paused);
    OUTRIDER_ASSERT(known && *known);
    world_.note(paused ? "pause" : "resume", destination);
    world_.ring_all();
}

std::vector<DeadLetter> Operator::list() {
    DeadFilter filter;
    filter.limit = SIZE_MAX;
    return std::move(admin_->dead_letters(filter)).value();
}

std::size_t Operator::place_of(const DeadLetter& letter) const {
    std::size_t place = 0;
    while (world_.scenario.places[place].destination.name != letter.destination) ++place;
    return place;
}

void Operator::note(const DeadLetter& letter, Death::Step step) {
    const std::size_t place = place_of(letter);
    world_.note("dead", place, world_.number_of(letter.id), static_cast<std::uint64_t>(step));
    world_.history.deaths.push_back({place, letter.id, letter.attempts, step});
}

bool Operator::replay(const DeadLetter& letter) {
    DeadFilter filter;
    filter.destination = letter.destination;
    filter.id = letter.id;
    const Result<std::uint64_t> replayed = admin_->replay_dead(filter);
    if (!replayed || *replayed != 1) return false;
    world_.count(FaultSort::replay);
    note(letter, Death::Step::replayed);
    return true;
}

void Operator::replay_some() {
    for (const DeadLetter& letter : list()) {
        if (world_.dice.chance(0.5)) replay(letter);
    }
    world_.ring_all();
}

void Operator::tend() {
    bool changed = false;
    for (const DeadLetter& letter : list()) {
        if (!world_.is_incurable(place_of(letter), world_.number_of(letter.id))) {
            changed |= replay(letter);
        } else if (letter.holds_key) {
            DeadFilter filter;
            filter.destination = letter.destination;
            filter.id = letter.id;
            const Result<std::uint64_t> discarded = admin_->discard_dead(filter);
            OUTRIDER_ASSERT(discarded && *discarded == 1);
            note(letter, Death::Step::discarded);
            changed = true;
        } else {
            note(letter, Death::Step::listed);
        }
    }
    if (changed) world_.ring_all();
}

void Operator::take_stock() {
    for (const DeadLetter& letter : list()) note(letter, Death::Step::remains);
}

}  // namespace outrider::simulation
