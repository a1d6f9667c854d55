#include "outrider/relay.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/bell.h"
#include "core/clock.h"
#include "core/dice.h"
#include "core/text.h"
#include "relay/caution.h"
#include "relay/circuit.h"
#include "relay/keeper.h"
#include "relay/worker.h"

namespace outrider {
namespace {

// One destination with what its workers share.
struct Post {
    Post(
        Destination destination_,
        std::shared_ptr<BrokerDriver> broker_,
        StoreDriver& store,
        Clock& clock
    )
        : destination(std::move(destination_)),
          broker(std::move(broker_)),
          circuit(destination),
          caution(destination, store, clock) {}

    const Destination destination;
    const std::shared_ptr<BrokerDriver> broker;
    Circuit circuit;
    Caution caution;
    Handled handled;
};

// One worker with what is its own.
struct Hand {
    Hand(
        Post& post,
        const RelayOptions& options,
        StoreDriver& store,
        Clock& clock,
        Observer& observer
    )
        : dice(random_seed()),
          waker(store.make_waker(observer)),
          worker(
              {.destination = post.destination,
               .options = options,
               .store = store,
               .broker = *post.broker,
               .circuit = post.circuit,
               .caution = post.caution,
               .handled = post.handled,
               .clock = clock,
               .dice = dice,
               .observer = observer,
               .waker = *waker}
          ) {}

    SeededDice dice;
    std::unique_ptr<Waker> waker;
    Worker worker;
};

// A thread body that sleeps on a waker must be rung when asked to stop.
template <class Body>
std::jthread start_thread(Waker& waker, Body body) {
    return std::jthread([&waker, body](const std::stop_token& stop) {
        const std::stop_callback ring(stop, [&waker] { waker.ring(); });
        body(stop);
    });
}

}  // namespace

class Relay::Crew {
public:
    Crew(
        std::shared_ptr<StoreDriver> store,
        RelayOptions options,
        std::shared_ptr<Observer> observer
    )
        : store_(std::move(store)),
          options_(options),
          observer_(observer ? std::move(observer) : std::make_shared<Observer>()),
          keeper_(*store_, options_, clock_, *observer_) {}

    void add(const Destination& destination, std::shared_ptr<BrokerDriver> broker) {
        validate(destination);
        const bool taken = std::any_of(posts_.begin(), posts_.end(), [&](const Post& post) {
            return post.destination.name == destination.name;
        });
        if (taken) {
            throw Failure({Remedy::correct, "destination '" + destination.name + "' exists twice"});
        }
        if (!threads_.empty()) {
            throw Failure({Remedy::correct, "destinations must be added before the relay starts"});
        }
        const Post& post = posts_.emplace_back(destination, std::move(broker), *store_, clock_);
        keeper_.watch(post.destination, post.circuit);
    }

    void start() {
        if (!threads_.empty()) return;
        hire();
        for (Hand& hand : hands_) {
            threads_
                .push_back(start_thread(*hand.waker, [this, &hand](const std::stop_token& stop) {
                    {
                        const std::lock_guard lock(mutex_);
                        at_work_.insert(std::this_thread::get_id());
                    }
                    hand.worker.run(stop);
                }));
        }
        threads_.push_back(start_thread(keeper_bell_, [this](const std::stop_token& stop) {
            while (!stop.stop_requested()) keeper_bell_.wait(keeper_.step());
        }));
    }

    void stop() {
        if (is_one_of_us()) {
            throw Failure(
                {Remedy::correct,
                 "a handler cannot stop its own relay, which waits for the handler: let another "
                 "thread do it"}
            );
        }
        for (std::jthread& thread : threads_) thread.request_stop();
        if (threads_.empty()) return;
        threads_.clear();  // joins
        at_work_.clear();
        for (Post& post : posts_) post.caution.leave();
        keeper_.finish();
    }

    void wake() {
        const std::lock_guard lock(mutex_);
        for (Hand& hand : hands_) hand.waker->ring();
    }

    [[nodiscard]] bool is_idle() const {
        const std::lock_guard lock(mutex_);
        return std::all_of(hands_.begin(), hands_.end(), [](const Hand& hand) {
            return hand.worker.is_idle();
        });
    }

private:
    [[nodiscard]] bool is_one_of_us() const {
        const std::lock_guard lock(mutex_);
        return at_work_.contains(std::this_thread::get_id());
    }

    // Who calls wake() may be about while the relay starts.
    void hire() {
        const std::lock_guard lock(mutex_);
        hands_.clear();
        for (Post& post : posts_) {
            for (std::size_t i = 0; i < post.destination.workers; ++i) {
                hands_.emplace_back(post, options_, *store_, clock_, *observer_);
            }
        }
    }

    const std::shared_ptr<StoreDriver> store_;
    const RelayOptions options_;
    const std::shared_ptr<Observer> observer_;
    SystemClock clock_;
    Keeper keeper_;
    Bell keeper_bell_;
    std::deque<Post> posts_;
    mutable std::mutex mutex_;  // guards which hands there are, and who is at work
    std::set<std::thread::id> at_work_;
    std::deque<Hand> hands_;
    std::vector<std::jthread> threads_;
};

Relay::Relay(
    std::shared_ptr<StoreDriver> store,
    RelayOptions options,
    std::shared_ptr<Observer> observer
)
    : crew_(std::make_unique<Crew>(std::move(store), options, std::move(observer))) {
}

Relay::~Relay() {
    stop();
}

void Relay::add(const Destination& destination, std::shared_ptr<BrokerDriver> broker) {
    crew_->add(destination, std::move(broker));
}

std::string Relay::name_of_handler(const std::string& pattern) {
    std::string name = "on:" + pattern;
    if (is_plain_name(name)) return name;
    throw Failure(
        {Remedy::correct,
         "on(\"" + pattern +
             "\"): this pattern cannot be the name of its destination, which has letters, digits "
             "and - _ . : * only, and 63 at most with \"on:\". Give it a name of its own: "
             "on(\"name\", \"" +
             pattern + "\", handler)"}
    );
}

void Relay::start() {
    crew_->start();
}

void Relay::stop() {
    crew_->stop();
}

void Relay::wake() {
    crew_->wake();
}

bool Relay::is_idle() const {
    return crew_->is_idle();
}

}  // namespace outrider
