// The worker: notes where each parcel has been, once per scan, however often the message arrives.
//
//   parcels_worker CONNINFO AMQP_URL

#include <chrono>
#include <cstdio>
#include <thread>

#include <outrider/error.h>
#include <outrider/postgres_inbox.h>

#include "database.h"
#include "queue.h"

namespace {

// One transaction: that the message was seen, and what follows from it.
void take(const Database& database, const Arrived& arrived) {
    static const outrider::postgres::Inbox inbox;
    const auto id = outrider::MessageId::parse(arrived.id).value_or(outrider::MessageId{});
    const outrider::Arrival arrival(id, "parcels.scanned", arrived.key, arrived.position);
    database.run("begin");
    const outrider::Receipt receipt = inbox.once(database.get(), "tracker", arrival, [&] {
        database.run(
            "insert into journey (parcel, number, place) values ($1, $2, $3)",
            {arrived.key, std::to_string(arrived.position), arrived.payload}
        );
    });
    database.run("commit");
    if (receipt.missing > 0 || receipt.late) {
        std::fprintf(stderr, "parcel %s: out of order\n", arrived.key.c_str());
    }
}

// Until something breaks. Only what is committed is acknowledged; the rest comes again.
void work(const std::string& conninfo, const std::string& url) {
    Queue queue(url, "parcels");
    const Database database(conninfo);
    for (;;) {
        const std::optional<Arrived> arrived = queue.next();
        if (!arrived) continue;
        take(database, *arrived);
        queue.acknowledge(arrived->tag);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    for (;;) {
        try {
            work(argv[1], argv[2]);
        } catch (const std::exception& exception) {
            std::fprintf(stderr, "%s; once more\n", exception.what());
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        }
    }
}
