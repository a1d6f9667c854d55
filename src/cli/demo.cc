#include "cli/demo.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

#include "outrider/error.h"
#include "outrider/sqlite_store.h"

#include "cli/child.h"
#include "cli/demo_report.h"
#include "cli/demo_shop.h"
#include "cli/demo_view.h"
#include "cli/paths.h"
#include "core/clock.h"
#include "core/store.h"
#include "core/store_admin.h"

namespace outrider::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kInFlightMax = 1000;
constexpr Duration kTick = milliseconds(200);
constexpr Duration kDownTime = milliseconds(1500);
constexpr Duration kDrainPatience = seconds(30);

Duration from_seconds(double value) {
    return Duration(static_cast<Duration::rep>(value * 1e6));
}

// A folder for the demo's files, removed at the end unless the caller named it.
class DemoFolder {
public:
    explicit DemoFolder(const std::string& wanted) : keeps_(!wanted.empty()) {
        if (keeps_) {
            std::filesystem::create_directories(wanted);
            path_ = std::filesystem::absolute(wanted);
            return;
        }
        std::string pattern =
            (std::filesystem::temp_directory_path() / "outrider-demo-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw Failure({Remedy::correct, "cannot make a temporary folder for the demo"});
        }
        path_ = pattern;
    }
    ~DemoFolder() {
        std::error_code ignored;
        if (!keeps_) std::filesystem::remove_all(path_, ignored);
    }
    DemoFolder(const DemoFolder&) = delete;
    DemoFolder& operator=(const DemoFolder&) = delete;

    [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

private:
    const bool keeps_;
    std::filesystem::path path_;
};

// Signals are blocked in all threads and fetched here, so that Ctrl-C ends the demo in order.
class Interrupt {
public:
    Interrupt() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    }
    ~Interrupt() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    // Waits, but not for longer than this. True: it is time to end.
    [[nodiscard]] bool came_within(Duration patience) const {
        const auto whole = std::chrono::duration_cast<seconds>(patience);
        const timespec timeout{
            whole.count(),
            std::chrono::duration_cast<std::chrono::nanoseconds>(patience - whole).count()};
        return sigtimedwait(&signals_, nullptr, &timeout) > 0;
    }

private:
    sigset_t signals_{};
    sigset_t before_{};
};

class Demo {
public:
    explicit Demo(const DemoOptions& options)
        : options_(options),
          folder_(options.folder),
          database_(folder_.file("shop.db")),
          delivered_(folder_.file("delivered.jsonl")),
          shop_(database_),
          view_(
              {.redraws = !options.plain && !options.json && ::isatty(STDOUT_FILENO) == 1,
               .silent = options.json}
          ) {}

    int run() {
        prepare();
        start_relay();
        shop_.start();
        play();
        shop_.stop();
        const bool drained = drain();
        relay_.stop();
        view_.end();
        if (!drained) std::cerr << "outrider: the relay did not finish in time\n";
        return tell();
    }

private:
    void prepare() {
        for (const char* name : {"shop.db", "shop.db-wal", "shop.db-shm", "delivered.jsonl"}) {
            std::filesystem::remove(folder_.file(name));
        }
        store_ = sqlite::open_store(database_);
        auto admin = store_->open_admin(StoreDriver::IfMissing::create);
        if (!admin) throw Failure(admin.error());
        if (const auto migrated = (*admin)->migrate(); !migrated) throw Failure(migrated.error());
        admin_ = std::move(admin).value();
        shop_.open();
        write_config();
    }

    void write_config() const {
        std::ofstream config(folder_.file("outrider.toml"));
        config << "[store]\nurl = \"" << url_of("sqlite", database_) << "\"\n\n[[destination]]\n"
               << "name = \"orders\"\nbroker = \"" << url_of("file", delivered_) << "\"\n"
               << "topics = [\"orders.*\"]\npayload_bytes_max = \"" << DemoShop::kPayloadBytesMax
               << "B\"\n\n[destination.batch]\nmessages = " << kInFlightMax << "\n";
    }

    void start_relay() {
        const Result<void> started = relay_.start(
            {"relay", "--config", folder_.file("outrider.toml")}, folder_.file("relay.log")
        );
        if (!started) throw Failure(started.error());
    }

    // The show: the relay is killed in the middle, and for a moment nobody delivers.
    void play() {
        const MonoTime start = clock_.now();
        const Duration length = from_seconds(options_.seconds);
        MonoTime kill_at = start + length * 2 / 5;
        MonoTime restart_at;
        while (options_.keep || clock_.now() < start + length) {
            if (interrupt_.came_within(kTick)) return;
            const MonoTime now = clock_.now();
            if (relay_.is_running() && now >= kill_at) {
                relay_.kill();
                ++report_.kills;
                restart_at = now + kDownTime;
                kill_at = now + length / 2 + kDownTime;
                if (!options_.keep) kill_at = start + length * 2;
            } else if (!relay_.is_running() && now >= restart_at) {
                start_relay();
            }
            show(static_cast<double>((now - start).count()) / static_cast<double>(length.count()));
        }
    }

    void show(double progress) {
        const Result<Backlog> backlog = admin_->backlog({});
        if (!backlog) return;
        DemoMoment moment;
        moment.progress = options_.keep ? -1 : progress;
        moment.shop = shop_.totals();
        moment.relay_running = relay_.is_running();
        for (const DestinationStatus& destination : backlog->destinations) {
            moment.delivered = destination.delivered;
            moment.pending = destination.pending;
            moment.lag = destination.oldest_pending_age.value_or(Duration::zero());
            moment.dead = destination.dead;
        }
        view_.show(moment, clock_.now());
    }

    bool drain() {
        if (!relay_.is_running()) start_relay();
        const MonoTime deadline = clock_.now() + kDrainPatience;
        while (clock_.now() < deadline) {
            const Result<Backlog> backlog = admin_->backlog({});
            if (backlog && !backlog->destinations.empty()) {
                const DestinationStatus& orders = backlog->destinations[0];
                if (orders.pending == 0 && orders.parked == 0) return true;
            }
            static_cast<void>(interrupt_.came_within(kTick / 4));
        }
        return false;
    }

    int tell() {
        report_.shop = shop_.totals();
        report_.in_flight_max = kInFlightMax;
        const Result<void> compared = compare(database_, delivered_, report_);
        if (!compared) throw Failure(compared.error());
        if (options_.json) {
            std::cout << to_json(report_);
        } else {
            std::cout << "\nEvery order in the shop's table against what arrived:\n\n"
                      << to_text(report_) << "\n"
                      << (report_.is_good()
                              ? "Nothing lost, nothing invented, order kept.\n"
                              : "SOMETHING IS WRONG: please report this, with the folder.\n");
            if (!options_.folder.empty()) std::cout << "Files: " << options_.folder << "\n";
        }
        return report_.is_good() ? 0 : 1;
    }

    const DemoOptions options_;
    const Interrupt interrupt_;
    SystemClock clock_;
    const DemoFolder folder_;
    const std::string database_;
    const std::string delivered_;
    std::shared_ptr<StoreDriver> store_;
    std::unique_ptr<StoreAdmin> admin_;
    DemoShop shop_;
    DemoView view_;
    Child relay_;
    DemoReport report_;
};

}  // namespace

int run_demo(const DemoOptions& options) {
    try {
        return Demo(options).run();
    } catch (const std::exception& exception) {
        std::cerr << "outrider: demo: " << exception.what() << "\n";
        return 1;
    }
}

}  // namespace outrider::cli
