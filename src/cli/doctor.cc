#include "admin/doctor.h"

#include "cli/context.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "core/text.h"

namespace outrider::cli {
namespace {

std::vector<Destination> destinations_of(const Config& config) {
    std::vector<Destination> destinations;
    for (const DestinationConfig& one : config.destinations) destinations.push_back(one.rules);
    return destinations;
}

std::vector<Finding> examine(const Config& config) {
    const auto admin = open_admin(config, StoreDriver::IfMissing::fail);
    std::vector<Finding> findings = value_of(admin->examine());
    const SchemaVersion version = value_of(admin->schema_version());
    if (version.installed != version.newest) return findings;
    // Without its rights a user cannot see how destinations stand; that is found already.
    const Result<Backlog> backlog = admin->backlog(destinations_of(config));
    if (!backlog) return findings;
    for (Finding& finding : admin::judge(*backlog)) findings.push_back(std::move(finding));
    return findings;
}

}  // namespace

int run_doctor(const CommonArguments& common) {
    const std::vector<Finding> findings = examine(load_for_store(common));
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
