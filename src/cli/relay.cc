#include "outrider/relay.h"

#include <csignal>

#include <malloc.h>
#include <sys/resource.h>

#include "cli/context.h"
#include "cli/drain.h"
#include "cli/drivers.h"
#include "cli/log_observer.h"
#include "cli/notify.h"
#include "cli/store_wait.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "config/values.h"

namespace outrider::cli {
namespace {

constexpr Duration kReportEvery = std::chrono::seconds(10);

// What a turn takes at the usual limits. Given back to the system after every turn, it would have
// to be had from there again for the next one, page by page: a fifth of a drain's time.
constexpr int kKeptMemory = 16 << 20;

// A broker's closed socket is an answer, not a reason to die, and so is a file that may not grow;
// and a core file would hold payloads. Every connection takes a descriptor: all that are allowed.
void prepare_process() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::mallopt(M_TRIM_THRESHOLD, kKeptMemory);
    ::mallopt(M_MMAP_THRESHOLD, kKeptMemory / 2);
}

std::optional<Duration> parse_timeout(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const std::optional<Duration> timeout = parse_duration(text);
    if (timeout) return timeout;
    throw Stop(kUsage, "--timeout: expected a duration such as 30s, not '" + text + "'");
}

void warn_of(const std::vector<std::string>& remarks, Log& log) {
    for (const std::string& remark : remarks) log.warn(remark);
}

Result<SchemaVersion> migrate_first(StoreAdmin& admin, Log& log) {
    Result<SchemaVersion> version = admin.migrate();
    if (!version) return version;
    log.info("migrated", {{"version", version->installed}});
    warn_of(version->remarks, log);
    return version;
}

// The store with the tables of this build. An error: it is away, or went away meanwhile.
Result<std::unique_ptr<StoreAdmin>> open_ready(
    StoreDriver& store,
    const RelayArguments& arguments,
    Log& log
) {
    Result<std::unique_ptr<StoreAdmin>> admin = store.open_admin(
        arguments.migrate ? StoreDriver::IfMissing::create : StoreDriver::IfMissing::fail
    );
    if (!admin) return admin;
    Result<SchemaVersion> version =
        arguments.migrate ? migrate_first(**admin, log) : (*admin)->schema_version();
    if (!version && version.error().remedy == Remedy::wait) return version.error();
    if (version && !arguments.migrate) warn_of(version->remarks, log);
    require_schema(value_of(std::move(version)));
    return admin;
}

// The same; nothing if a signal came while it was away. A drain has somebody who waits for it, and
// so waits for nobody.
std::unique_ptr<StoreAdmin> open_for_relay(
    const Config& config,
    StoreDriver& store,
    const RelayArguments& arguments,
    const StopSignals& signals,
    Log& log
) {
    const auto open = [&] { return open_ready(store, arguments, log); };
    if (!arguments.drain) return wait_for_store(config, open, signals, log);
    Result<std::unique_ptr<StoreAdmin>> admin = open();
    if (!admin) fail_to_open(config, admin.error());
    return std::move(admin).value();
}

std::vector<std::string> add_destinations(Relay& relay, const Config& config, Log& log) {
    std::vector<std::string> names;
    for (const DestinationConfig& one : config.destinations) {
        relay.add(one.rules, open_broker(one));
        names.push_back(one.rules.name);
        log.info(
            "serving",
            {{"destination", one.rules.name},
             {"topics", joined(one.rules.topics)},
             {"broker", one.broker.masked()}}
        );
    }
    if (names.empty()) log.warn("no destinations are configured: nothing will be delivered");
    return names;
}

const char* name_of(int signal) {
    if (signal == SIGHUP) return "SIGHUP";
    return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

void wait_for_signal(const StopSignals& signals, LogObserver& observer, Log& log) {
    for (;;) {
        const std::optional<int> signal = signals.wait(kReportEvery);
        observer.report();
        if (!signal) continue;
        log.info("stopping", {{"signal", name_of(*signal)}});
        return;
    }
}

void stop_orderly(Relay& relay, const Config& config, const StopSignals& signals, Log& log) {
    notify_service_manager("STOPPING=1");
    const StopGuard guard(signals, config.stop_deadline, [&log](const char* text) {
        log.error(text);
    });
    relay.stop();
}

}  // namespace

int run_relay(const CommonArguments& common, const RelayArguments& arguments) {
    const std::optional<Duration> timeout = parse_timeout(arguments.timeout);
    const Config config = load(common);
    Log log(config.log);
    prepare_process();
    const StopSignals signals;
    // One for both: what a relay holds back in its memory, a drain must know.
    const std::shared_ptr<StoreDriver> store = open_store(config);
    const std::unique_ptr<StoreAdmin> admin =
        open_for_relay(config, *store, arguments, signals, log);
    if (!admin) return kFine;
    const auto observer = std::make_shared<LogObserver>(log);
    log.info("relay starts", {{"version", OUTRIDER_VERSION}, {"store", config.store.masked()}});
    Relay relay(store, config.relay, observer);
    const std::vector<std::string> names = add_destinations(relay, config, log);
    relay.start();
    notify_service_manager("READY=1");
    ExitCode code = kFine;
    if (arguments.drain) {
        code = Drain{relay, *observer, *admin, signals, log, names, timeout}.run();
    } else {
        wait_for_signal(signals, *observer, log);
    }
    stop_orderly(relay, config, signals, log);
    observer->report();
    log.info("relay stopped");
    return code;
}

}  // namespace outrider::cli
