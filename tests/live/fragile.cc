// A service whose handler ends the process when it meets a message with the payload "poison".
// Writes what it has handled to a file, a line per message. Started again and again by
// fragile_test.py.
//
//   fragile STORE OUTPUT HOW RETRY    STORE: sqlite:PATH or a conninfo; HOW: abort, exit or throw;
//                                     RETRY: later (in an hour) or never (dead when refused once)

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

#include <outrider/brokers.h>
#include <outrider/postgres_store.h>
#include <outrider/relay.h>
#include <outrider/sqlite_store.h>
#include <unistd.h>

namespace {

std::shared_ptr<outrider::StoreDriver> open_store(const std::string& store) {
    constexpr std::string_view kSqlite = "sqlite:";
    if (store.starts_with(kSqlite)) return outrider::sqlite::open_store(store.substr(7));
    outrider::postgres::Options options;
    options.conninfo = store;
    return outrider::postgres::open_store(options);
}

[[noreturn]] void end(const std::string& how) {
    if (how == "abort") std::abort();
    if (how == "exit") ::_exit(0);
    std::terminate();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    const std::string how = argv[3];
    std::ofstream output(argv[2], std::ios::app);
    outrider::Destination destination;
    destination.name = "fragile";
    destination.batch.messages = outrider::Relay::kHandlerBatch;
    destination.retry.delay_first = std::chrono::hours(1);
    destination.retry.attempts_max = std::string(argv[4]) == "never" ? 1 : 20;
    outrider::Relay relay(open_store(argv[1]));
    relay.add(destination, outrider::handler_broker([&](const outrider::Delivery& delivery) {
                  if (delivery.payload == "poison") end(how);
                  output << delivery.key << ' ' << delivery.payload << std::endl;
              }));
    relay.start();
    int signal = 0;
    sigwait(&signals, &signal);
    relay.stop();
    return 0;
}
