#include "cli/store_wait.h"

#include <algorithm>
#include <csignal>

#include "cli/context.h"
#include "cli/notify.h"

namespace outrider::cli {
namespace {

// The service is ready, and waits: a service manager would end one that is not ready in time, and
// nobody knows how long this takes.
void say_that_it_is_away(const Config& config, const Error& error, Log& log) {
    log.warn(kStoreIsAway, {{"store", config.store.masked()}, {"error", error.text}});
    notify_service_manager("READY=1");
}

}  // namespace

std::unique_ptr<StoreAdmin> wait_for_store(
    const Config& config,
    const OpenStore& open,
    const StopSignals& signals,
    Log& log
) {
    Duration delay = Duration::zero();
    for (;;) {
        Result<std::unique_ptr<StoreAdmin>> admin = open();
        if (admin) {
            if (delay > Duration::zero()) {
                log.info(kStoreIsBack, {{"store", config.store.masked()}});
            }
            return std::move(admin).value();
        }
        if (admin.error().remedy != Remedy::wait) fail_to_open(config, admin.error());
        if (delay == Duration::zero()) say_that_it_is_away(config, admin.error(), log);
        delay = std::clamp(
            delay * 2, config.relay.reconnect_delay_first, config.relay.reconnect_delay_max
        );
        if (const std::optional<int> signal = signals.wait(delay)) {
            log.info("stopping", {{"signal", *signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
            return nullptr;
        }
    }
}

}  // namespace outrider::cli
