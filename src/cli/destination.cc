#include <algorithm>

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/destination_names.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace outrider::cli {
namespace {

int set_paused(const CommonArguments& common, const DestinationArguments& arguments, bool paused) {
    const auto admin = open_ready_admin(load_for_store(common));
    if (!value_of(admin->set_paused(arguments.name, paused)))
        refuse_destination(*admin, arguments.name);
    if (common.json) {
        print(admin::destination_change_document(arguments.name, "paused", paused));
    } else {
        print((paused ? "paused " : "resumed ") + arguments.name);
    }
    return kFine;
}

}  // namespace

int destination_list(const CommonArguments& common) {
    const Config config = load_for_store(common);
    const auto admin = open_ready_admin(config);
    const Backlog backlog = value_of(admin->backlog({}));
    const std::vector<std::string> configured = configured_names(config);
    if (common.json) {
        print(admin::destinations_document(backlog, configured));
        return kFine;
    }
    std::vector<Row> rows;
    for (const DestinationStatus& status : backlog.destinations) {
        const bool is_configured =
            std::find(configured.begin(), configured.end(), status.name) != configured.end();
        rows.push_back(
            {printable(status.name),
             printable(joined(status.topics)),
             is_configured ? "yes" : "no",
             status.paused ? "yes" : "no",
             status.relay_running ? "running" : "none",
             std::string(to_string(status.circuit))}
        );
    }
    print(format_table({"DESTINATION", "TOPICS", "CONFIGURED", "PAUSED", "RELAY", "CIRCUIT"}, rows)
    );
    return kFine;
}

int destination_pause(const CommonArguments& common, const DestinationArguments& arguments) {
    return set_paused(common, arguments, true);
}

int destination_resume(const CommonArguments& common, const DestinationArguments& arguments) {
    return set_paused(common, arguments, false);
}

int destination_forget(const CommonArguments& common, const DestinationArguments& arguments) {
    const auto admin = open_ready_admin(load_for_store(common));
    const std::string question =
        "Forget the progress, parked messages and dead letters of '" + arguments.name + "'?";
    if (!arguments.yes && !confirm(question)) throw Stop(kFailed, "nothing was changed");
    if (!value_of(admin->forget(arguments.name))) refuse_destination(*admin, arguments.name);
    if (common.json) {
        print(admin::destination_change_document(arguments.name, "forgotten", true));
    } else {
        print("forgot " + arguments.name);
    }
    return kFine;
}

}  // namespace outrider::cli
