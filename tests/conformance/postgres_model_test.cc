#include <map>

#include "outrider/observer.h"

#include "conformance/memory_harness.h"
#include "conformance/postgres_harness.h"
#include "core/dice.h"
#include "relay/turn.h"
#include "support/environment.h"

// The store that the simulation believes in, against a real server: the same random script of
// commits, rollbacks, turns, delays, refusals, deaths, replays and clean-ups must end the same way
// for every key. MODEL_SEEDS and MODEL_FIRST_SEED replay more, or one.

namespace outrider {
namespace {

using std::chrono::seconds;

// Answers by what a message is and how often it was refused, never by the company it comes in: the
// stores may cut their batches differently.
class FatefulBroker final : public Broker {
public:
    explicit FatefulBroker(const Destination& destination)
        : keeps_keys_(
              destination.order != Order::none && destination.on_failure == OnFailure::block
          ) {}

    [[nodiscard]] BrokerTraits traits() const override { return {}; }
    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return {}; }

    void publish(
        std::span<const Envelope> envelopes,
        Deadline /*deadline*/,
        std::span<Answer> answers
    ) override {
        for (std::size_t i = 0; i < envelopes.size(); ++i) {
            const Envelope& envelope = envelopes[i];
            answers[i].verdict = judge(envelope);
            answers[i].reason = "fate";
            if (answers[i].verdict == Verdict::acknowledged) deliver(envelope);
        }
    }

    // In order of arrival where an order is promised, else sorted.
    std::map<std::string, std::vector<std::string>> delivered;
    std::uint64_t age = 0;  // of the world: what was refused once may be taken in another

private:
    Verdict judge(const Envelope& envelope) {
        const bool first_offer = ++offers_[std::string(envelope.payload)] == 1;
        SeededDice dice(std::hash<std::string_view>()(envelope.payload) + age * 1000);
        for (std::uint32_t i = 0; i < envelope.attempts; ++i) (void)dice.next();
        const double roll = dice.roll();
        if (roll < 0.05 && first_offer) return Verdict::unanswered;
        if (roll < 0.25) return Verdict::refused;
        return roll < 0.32 ? Verdict::unacceptable : Verdict::acknowledged;
    }

    void deliver(const Envelope& envelope) {
        auto& there = delivered[std::string(envelope.topic) + "/" + std::string(envelope.key)];
        const std::string payload(envelope.payload);
        const bool ordered = keeps_keys_ && !envelope.key.empty();
        there.insert(
            ordered ? there.end() : std::lower_bound(there.begin(), there.end(), payload), payload
        );
    }

    const bool keeps_keys_;
    std::map<std::string, int> offers_;
};

// One of the two worlds, driven by the same script.
class World {
public:
    World(std::unique_ptr<StoreHarness> harness, const Destination& destination)
        : harness_(std::move(harness)),
          destination_(destination),
          broker_(destination),
          driver_(harness_->driver()),
          store_(std::move(driver_->open(destination)).value()),
          admin_(std::move(driver_->open_admin(StoreDriver::IfMissing::fail)).value()) {}

    StoreHarness& harness() { return *harness_; }
    StoreAdmin& admin() { return *admin_; }
    FatefulBroker& broker() { return broker_; }

    // Makes turns until nothing is due.
    void drain(std::size_t messages) {
        SeededDice dice(1);
        Observer observer;
        const TurnContext context{
            .destination = destination_,
            .limits = {messages, 1U << 20U},
            .clock = *harness_->clock,
            .dice = dice,
            .observer = observer,
            .stop = {}};
        for (int turns = 0; turns < 10'000; ++turns) {
            const TurnReport report = make_turn(*store_, broker_, context);
            ASSERT_NE(report.outcome, TurnReport::Outcome::store_failed) << report.error.text;
            if (report.outcome == TurnReport::Outcome::idle) return;
        }
        FAIL() << "it never comes to rest";
    }

    // A relay that dies with a claim in hand, and another in its place.
    void die() {
        (void)store_->claim({5, 1U << 20U});
        store_ = std::move(driver_->open(destination_)).value();
    }

    // Everything that an operator or a consumer can see.
    [[nodiscard]] std::string state() {
        std::string text;
        for (const auto& [key, payloads] : broker_.delivered) {
            text += key + ":";
            for (const std::string& payload : payloads) text += " " + payload;
            text += "\n";
        }
        const Result<Backlog> backlog = admin_->backlog({});
        if (!backlog) return backlog.error().text;
        const DestinationStatus& status = backlog->destinations.at(0);
        const auto add = [&text](const char* name, std::uint64_t number) {
            text += std::string(name) + " " + std::to_string(number) + "\n";
        };
        add("pending", status.pending);
        add("parked", status.parked);
        add("blocked", status.blocked_keys);
        add("dead", status.dead);
        add("delivered", status.delivered);
        return text + dead();
    }

private:
    [[nodiscard]] std::string dead() {
        DeadFilter filter;
        filter.limit = 100'000;
        const Result<std::vector<DeadLetter>> letters = admin_->dead_letters(filter);
        if (!letters) return letters.error().text;
        std::string text;
        for (const DeadLetter& letter : *letters) {
            text += letter.id.to_string() + " " + letter.topic + "/" + letter.key + " " +
                    std::to_string(letter.attempts) + (letter.holds_key ? " holds " : " ") +
                    letter.error + " " + to_iso(letter.died_at.value()) + "\n";
        }
        return text;
    }

    std::unique_ptr<StoreHarness> harness_;
    const Destination destination_;
    FatefulBroker broker_;
    std::shared_ptr<StoreDriver> driver_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<StoreAdmin> admin_;
};

Destination destination_of(SeededDice& dice) {
    Destination destination;
    destination.name = "some";
    destination.topics = {"a", "b.*"};
    destination.order = dice.chance(0.7)   ? Order::key
                        : dice.chance(0.5) ? Order::none
                                           : Order::global;
    destination.on_failure = dice.chance(0.7) ? OnFailure::block : OnFailure::skip;
    destination.after_death = dice.chance(0.5) ? AfterDeath::go_on : AfterDeath::hold;
    destination.retry.attempts_max = 3;
    destination.retry.jitter = 0;
    return destination;
}

// Plays one script on both.
class Script {
public:
    explicit Script(std::uint64_t seed)
        : dice_(seed),
          keeps_history_(dice_.chance(0.5)),
          destination_(destination_of(dice_)),
          model_(std::make_unique<MemoryHarness>(std::size_t{4}), destination_),
          real_(std::make_unique<PostgresHarness>(4), destination_) {}

    void run() {
        for (int step = 0; step < 40; ++step) {
            const std::string what = move();
            const std::size_t messages = dice_.chance(0.5) ? 3 : 50;
            for (World* world : worlds_) ASSERT_NO_FATAL_FAILURE(world->drain(messages));
            ASSERT_EQ(model_.state(), real_.state())
                << "after step " << step << ": " << what << ", order "
                << to_string(destination_.order) << ", failures "
                << to_string(destination_.on_failure);
        }
    }

private:
    std::string move() {
        const double roll = dice_.roll();
        if (roll < 0.45) return write();
        if (roll < 0.75) return wait();
        if (roll < 0.8) return die();
        for (World* world : worlds_) ++world->broker().age;
        if (roll < 0.88) return operate("replay_dead", &StoreAdmin::replay_dead);
        if (roll < 0.92) return operate("discard_dead", &StoreAdmin::discard_dead);
        return keeps_history_ ? replay() : clean_up();
    }

    std::string write() {
        std::vector<Message> messages;
        const std::uint64_t count = 1 + dice_.pick(12);
        for (std::uint64_t i = 0; i < count; ++i) messages.push_back(message());
        const bool commits = dice_.chance(0.85);
        for (World* world : worlds_) {
            StoreHarness& harness = world->harness();
            commits ? harness.commit(messages) : harness.roll_back(messages);
        }
        return "write";
    }

    Message message() {
        Message message;
        std::array<std::uint8_t, 16> id{};
        for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(1 + dice_.pick(255));
        message.id = MessageId(id);
        message.topic = topic();
        if (dice_.chance(0.8)) message.key = std::to_string(dice_.pick(6));
        message.payload = std::to_string(++written_);
        if (dice_.chance(0.15)) message.deliver_after = now() + seconds(dice_.pick(20));
        return message;
    }

    std::string topic() {
        constexpr std::array kTopics = {"a", "b.x", "b.y", "other"};
        return kTopics[dice_.pick(kTopics.size())];
    }

    std::string wait() {
        const auto time = seconds(1 + dice_.pick(10));
        for (World* world : worlds_) world->harness().clock->advance(time);
        return "wait";
    }

    std::string die() {
        for (World* world : worlds_) world->die();
        return "die";
    }

    std::string operate(
        const char* name,
        Result<std::uint64_t> (StoreAdmin::*verb)(const DeadFilter&)
    ) {
        DeadFilter filter;
        if (dice_.chance(0.3)) filter.topic = topic();
        if (dice_.chance(0.3)) filter.key = std::to_string(dice_.pick(6));
        if (dice_.chance(0.3)) filter.limit = 1 + dice_.pick(3);
        EXPECT_EQ(*(model_.admin().*verb)(filter), *(real_.admin().*verb)(filter)) << name;
        return name;
    }

    std::string replay() {
        ReplayFilter filter;
        filter.destination = destination_.name;
        if (dice_.chance(0.5)) filter.from_time = now() - seconds(dice_.pick(60));
        if (dice_.chance(0.3)) filter.topic = topic();
        if (dice_.chance(0.5)) filter.key = std::to_string(dice_.pick(6));
        EXPECT_EQ(**model_.admin().replay(filter, false), **real_.admin().replay(filter, false));
        return "replay";
    }

    // How much goes at a time is the store's own affair.
    std::string clean_up() {
        for (World* world : worlds_) EXPECT_TRUE(world->admin().clean_up(Duration::zero(), 1000));
        return "clean up";
    }

    WallTime now() { return model_.harness().clock->wall(); }

    SeededDice dice_;
    const bool keeps_history_;  // either replays, or clean-ups
    const Destination destination_;
    World model_;
    World real_;
    const std::array<World*, 2> worlds_ = {&model_, &real_};
    int written_ = 0;
};

TEST(PostgresModel, TheMemoryStoreAndTheServerAgreeOnEveryKey) {
    const std::uint64_t first = number_from("MODEL_FIRST_SEED", 1);
    const std::uint64_t seeds = number_from("MODEL_SEEDS", 25);
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        SCOPED_TRACE("MODEL_SEEDS=1 MODEL_FIRST_SEED=" + std::to_string(seed));
        ASSERT_NO_FATAL_FAILURE(Script(seed).run());
    }
}

}  // namespace
}  // namespace outrider
