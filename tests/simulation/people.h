#pragma once

#include <map>
#include <string>
#include <vector>

#include "simulation/world.h"

namespace outrider::simulation {

// The application: writes messages in transactions that overlap, some of which roll back. Who
// writes a key holds its lock until the end of the transaction, so the order of a key is known.
class Producers {
public:
    explicit Producers(World& world) : world_(world) {}

    void start();
    [[nodiscard]] bool have_ended() const;

private:
    struct Draft {
        std::string topic;
        std::string key;
    };
    struct KeyState {
        bool locked = false;
        std::uint64_t position = 0;
    };
    using Drafts = std::vector<Draft>;

    void produce();
    void write_transaction();
    Drafts draw_drafts();
    void lock_keys(const Drafts& drafts);
    void unlock_keys(const Drafts& drafts);
    bool try_lock(const Drafts& drafts);
    Message write(const Draft& draft);
    void end_transaction(std::vector<Message> messages, std::size_t begun);

    World& world_;
    std::map<std::string, KeyState> keys_;
    std::vector<FibreNumber> fibres_;
    std::uint64_t moment_ = 0;
    std::uint64_t newest_visible_ = 0;  // for Bug::late_commit_lost: the last transaction seen
    std::uint64_t transactions_ = 0;
};

// Somebody who looks after dead letters and pauses.
class Operator {
public:
    explicit Operator(World& world);

    void pause(std::size_t destination, bool paused);

    // Lists the dead letters and replays some of them.
    void replay_some();

    // Replays what can be cured; discards what cannot and holds back its key.
    void tend();

    // What is left at the end.
    void take_stock();

private:
    std::vector<DeadLetter> list();
    void note(const DeadLetter& letter, Death::Step step);
    bool replay(const DeadLetter& letter);
    [[nodiscard]] std::size_t place_of(const DeadLetter& letter) const;

    World& world_;
    std::unique_ptr<StoreAdmin> admin_;
};

}  // namespace outrider::simulation
