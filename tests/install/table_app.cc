// What an application with an outbox table of its own writes. It links outrider::table_store and a
// broker.

#include <cstdio>

#include <outrider/brokers.h>
#include <outrider/table.h>

int main() {
    const outrider::table::TableOptions table{.preset = "outbox-messages"};
    outrider::Destination events;
    events.name = "events";
    outrider::table::Dispatcher dispatcher("host=/nowhere", table, events, outrider::null_broker());
    std::puts(std::string(to_string(dispatcher.dispatch("1"))).c_str());
}
