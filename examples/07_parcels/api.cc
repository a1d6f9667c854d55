// The API: takes scans of parcels, and carries every one of them to RabbitMQ with a relay of its
// own.
//
//   parcels_api PORT CONNINFO AMQP_URL

#include <cstdio>
#include <string>

#include <httplib.h>
#include <outrider/brokers.h>
#include <outrider/error.h>
#include <outrider/postgres.h>
#include <outrider/postgres_store.h>
#include <outrider/relay.h>

#include "database.h"

namespace {

enum class Scanned { now, before };

// One transaction: the scan, the parcel's count, the message. The client chose the id, so a request
// that it sends again, because it never saw our answer, changes nothing.
Scanned scan(
    const Database& database,
    const outrider::MessageId& id,
    const std::string& parcel,
    const std::string& place
) {
    database.run("begin");
    const Rows added = database.run(
        "insert into scan (id, parcel, place) values ($1, $2, $3) on conflict do nothing returning "
        "1",
        {id.to_string(), parcel, place}
    );
    if (added.count() == 0) {
        database.run("rollback");
        return Scanned::before;
    }
    // Takes the parcel's row lock, and only then is the message written: that is what makes the
    // order of a key.
    const Rows number = database.run(
        "insert into parcel (id, scans) values ($1, 1) "
        "on conflict (id) do update set scans = parcel.scans + 1 returning scans",
        {parcel}
    );
    outrider::Message message;
    message.topic = "parcels.scanned";
    message.key = parcel;
    message.payload = place;
    message.id = id;
    message.headers = {{"position", number.text(0, 0)}};
    outrider::postgres::enqueue(database.get(), message);
    database.run("commit");
    return Scanned::now;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::string conninfo = argv[2];

    outrider::postgres::Options options;
    options.conninfo = conninfo;
    outrider::Relay relay(outrider::postgres::open_store(options));
    outrider::Destination parcels;
    parcels.name = "parcels";
    parcels.topics = {"parcels.*"};
    parcels.outage_delay_max = std::chrono::seconds(1);
    relay.add(
        parcels, outrider::rabbitmq_broker(std::string(argv[3]) + "?exchange=&target=parcels")
    );
    relay.start();

    // A connection per request keeps this short, and survives a database that comes and goes.
    httplib::Server server;
    server.Post(R"(/parcels/([\w-]+)/scans)", [&](const httplib::Request& request, auto& response) {
        const auto id = outrider::MessageId::parse(request.get_header_value("Idempotency-Key"));
        if (!id) {
            response.status = 400;
            response.set_content("send a UUID of your own as Idempotency-Key\n", "text/plain");
            return;
        }
        const Scanned scanned = scan(Database(conninfo), *id, request.matches[1], request.body);
        response.status = scanned == Scanned::now ? 201 : 200;
        relay.wake();
    });
    server.Get(R"(/parcels/([\w-]+))", [&](const httplib::Request& request, auto& response) {
        const Database database(conninfo);
        const Rows places = database.run(
            "select place from journey where parcel = $1 order by entry", {request.matches[1]}
        );
        std::string text;
        for (int row = 0; row < places.count(); ++row) text += places.text(row, 0) + "\n";
        response.set_content(text, "text/plain");
    });
    // Whatever went wrong, nothing was promised: the client asks again with the same id.
    server.set_exception_handler([](const auto& /*request*/, auto& response, std::exception_ptr) {
        response.status = 503;
    });
    return server.listen("127.0.0.1", std::stoi(argv[1])) ? 0 : 1;
}
