#pragma once

#include <memory>
#include <string>

#include "outrider/brokers.h"
#include "outrider/destination.h"
#include "outrider/observer.h"
#include "outrider/time.h"

namespace outrider {

class StoreDriver;

// How a relay behaves as a whole. The defaults suit nearly everybody.
struct RelayOptions {
    // How long messages are kept after every destination has passed them, and how long a message is
    // kept that no destination takes. 0: no longer than until everyone has passed. Default 7 days.
    Duration retention = std::chrono::hours(24 * 7);

    // How often a relay that has nothing to do looks into the store unasked. New messages wake it
    // at once, so this is a safety net only. Default 1 s.
    Duration idle_poll = std::chrono::seconds(1);

    // How often a relay looks whether lanes that others hold have become free. Default 200 ms.
    Duration standby_poll = std::chrono::milliseconds(200);

    // How long to wait before a store that failed is opened again; doubled with each failure up to
    // the second. Defaults 100 ms and 5 s.
    Duration reconnect_delay_first = std::chrono::milliseconds(100);
    Duration reconnect_delay_max = std::chrono::seconds(5);
};

// Carries committed messages from a store to their destinations: claims, publishes, settles, with a
// few threads of its own. Embed it in a service, or run it as `outrider relay`; any number may run
// on one database.
//
//     outrider::Relay relay(outrider::sqlite::open_store("shop.db"));
//     relay.add({.name = "orders", .topics = {"orders.*"}}, outrider::file_broker("orders.jsonl"));
//     relay.start();
//
// One thread adds, starts and stops; wake() may be called from any.
class Relay {
public:
    // Without an observer it says nothing, whatever goes wrong (outrider/observer.h).
    explicit Relay(
        std::shared_ptr<StoreDriver> store,
        RelayOptions options = {},
        std::shared_ptr<Observer> observer = nullptr
    );
    ~Relay();  // stops
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    // Adds a destination before start(). Throws Failure (correct) if it makes no sense or the name
    // is taken.
    void add(const Destination& destination, std::shared_ptr<BrokerDriver> broker);

    // Calls `handler` in this process for every message whose topic fits the pattern, with the
    // guarantees of any broker: at least once, in order per key, tried again when it throws. The
    // database knows the destination by its name: whoever changes it begins anew. Turns are small,
    // so that little is repeated if the process ends. Throws as add().
    //
    // A handler that ends the process does not end it for ever: a message that was in hand at three
    // such ends is parked as refused, and the rest goes on (src/brokers/handler/README.md).
    void on(const std::string& name, const std::string& pattern, Handler handler) {
        Destination destination;
        destination.name = name;
        destination.topics = {pattern};
        destination.batch.messages = kHandlerBatch;
        add(destination, handler_broker(std::move(handler)));
    }

    // The same with the name "on:" and the pattern. Throws Failure (correct) where that is none:
    // names have letters, digits and - _ . : * only, 63 at most.
    void on(const std::string& pattern, Handler handler) {
        on(name_of_handler(pattern), pattern, std::move(handler));
    }

    static constexpr std::size_t kHandlerBatch = 256;

    // Begins to deliver. Neither the database nor a broker needs to be there yet.
    void start();

    // Stops claiming, lets every turn settle what its broker has answered, and returns when all
    // threads have ended, at the latest after the publish deadline. Stopping twice, or before
    // start, is fine. Throws Failure (correct) in a handler, which it would wait for.
    void stop();

    // There is something new: call it after a commit for the shortest way to the broker. From any
    // thread, before start and after stop, too.
    void wake();

    // Whether all workers have found nothing (more) to do in their last turn.
    [[nodiscard]] bool is_idle() const;

private:
    static std::string name_of_handler(const std::string& pattern);

    class Crew;
    std::unique_ptr<Crew> crew_;
};

}  // namespace outrider
