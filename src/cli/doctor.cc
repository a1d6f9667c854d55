#include "admin/doctor.h"

#include <algorithm>

#include "cli/context.h"
#include "cli/drivers.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "core/clock.h"
#include "core/text.h"

namespace outrider::cli {
namespace {

std::vector<Destination> destinations_of(const Config& config) {
    std::vector<Destination> destinations;
    for (const DestinationConfig& one : config.destinations) destinations.push_back(one.rules);
    return destinations;
}

// An operator waits no longer for each of them.
constexpr Duration kPatience = std::chrono::seconds(5);

Result<BrokerFacts> ask(const DestinationConfig& one) {
    const auto patience = std::min<Duration>(one.rules.publish_deadline, kPatience);
    try {
        const std::shared_ptr<BrokerDriver> driver = open_broker(one);
        Result<std::unique_ptr<Broker>> broker = driver->open();
        if (!broker) return broker.error();
        return (*broker)->describe(SystemClock().now() + patience);
    } catch (const Stop& stop) {
        return Error{Remedy::correct, stop.what()};
    }
}

// Only servers: a file would be made by looking, with this user as its owner.
void examine_brokers(const Config& config, std::vector<Finding>& findings) {
    for (const DestinationConfig& one : config.destinations) {
        if (!is_server(one.broker)) continue;
        const std::optional<Finding> finding = admin::judge(one.rules.name, ask(one));
        if (finding) findings.push_back(*finding);
    }
}

// Without its rights a user sees neither the version nor how destinations stand: that is found
// already, and is why. What nobody has found so far is a fault of its own.
void add_unreadable(const Error& error, std::vector<Finding>& findings) {
    if (!admin::is_healthy(findings)) return;
    findings.push_back(
        {Gravity::fault,
         "unreadable",
         "how the destinations stand cannot be read: " + error.text,
         "no relay can read it either: mend what the error says, then run 'outrider status'"}
    );
}

std::vector<Finding> examine(const Config& config) {
    const auto admin = open_admin(config, StoreDriver::IfMissing::fail);
    std::vector<Finding> findings = value_of(admin->examine());
    const Result<SchemaVersion> version = admin->schema_version();
    if (!version) add_unreadable(version.error(), findings);
    if (!version || version->installed != version->newest) return findings;
    const Result<Backlog> backlog = admin->backlog(destinations_of(config));
    if (!backlog) add_unreadable(backlog.error(), findings);
    if (!backlog) return findings;
    for (Finding& finding : admin::judge(*backlog)) findings.push_back(std::move(finding));
    return findings;
}

}  // namespace

int run_doctor(const CommonArguments& common) {
    const Config config = load_for_store(common);
    std::vector<Finding> findings = examine(config);
    examine_brokers(config, findings);
    if (common.json) {
        print(admin::doctor_document(findings));
    } else if (findings.empty()) {
        print("nothing found: all is well");
    }
    for (const Finding& finding : findings) {
        if (common.json) break;
        print(
            std::string(to_string(finding.gravity)) + " " + finding.code + ": " +
            printable(finding.what) + "\n    " + printable(finding.advice)
        );
    }
    return admin::is_healthy(findings) ? kFine : kUnhealthy;
}

}  // namespace outrider::cli
