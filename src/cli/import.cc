#include <algorithm>

#include "outrider/brokers.h"

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/destination_names.h"
#include "cli/drivers.h"
#include "cli/store_table.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "stores/table/importer.h"

namespace outrider::cli {
namespace {

constexpr const char* kOrderOfTheLog =
    "From now on a key is in order within each of its topics, no longer across them, unless the "
    "destination has order = \"global\".";

void require_table(const Config& config, const std::string& verb) {
    if (config.layout == StoreLayout::table) return;
    throw Stop(
        kUsage,
        verb + ": store.layout is not \"table\": it is for an outbox table that the application has"
    );
}

// A row is dead by the rules of those that could take it; the most patient of them decides. And the
// order of a key matters as soon as one of them keeps it.
Destination patient_rules(const Config& config) {
    Destination rules;
    rules.retry.attempts_max = config.destinations.empty() ? rules.retry.attempts_max : 1;
    for (const DestinationConfig& one : config.destinations) {
        const std::uint32_t limit = one.rules.retry.attempts_max;
        const bool never = limit == 0 || rules.retry.attempts_max == 0;
        rules.retry.attempts_max = never ? 0 : std::max(rules.retry.attempts_max, limit);
    }
    const bool keeps_keys = std::any_of(
        config.destinations.begin(),
        config.destinations.end(),
        [](const DestinationConfig& one) { return one.rules.order == Order::key; }
    );
    if (!config.destinations.empty() && !keeps_keys) rules.order = Order::none;
    return rules;
}

// The one that was named, or the only one there is.
const DestinationConfig& choose_destination(const Config& config, const std::string& name) {
    if (!name.empty()) return find_destination(config, name);
    if (config.destinations.size() == 1) return config.destinations.front();
    const std::vector<std::string> names = configured_names(config);
    throw Stop(
        kUsage,
        names.empty() ? "dispatch: no destination is configured"
                      : "dispatch: say which with --destination NAME: one of " + joined(names)
    );
}

ExitCode code_of(table::Dispatched outcome) {
    switch (outcome) {
        case table::Dispatched::refused:
            return kFailed;
        case table::Dispatched::invalid:
            return kUsage;
        case table::Dispatched::unknown:
            return kCannotConnect;
        default:
            return kFine;
    }
}

}  // namespace

int import_rows(const CommonArguments& common, const ImportArguments& arguments) {
    const Config config = load_for_store(common);
    require_table(config, "import");
    const Destination rules = patient_rules(config);
    const std::string order = rules.order == Order::key ? kOrderOfTheLog : "";
    const std::string question =
        "Move the pending rows of the table into the log" +
        std::string(arguments.no_trigger ? "" : ", and forward later ones by a trigger") +
        (order.empty() ? "?" : "? " + order);
    if (!arguments.yes && !confirm(question)) throw Stop(kFailed, "nothing was changed");
    postgres::StoreOptions log{config.postgres};
    log.conninfo = config.store.reveal();
    const table::ImportReport report = value_of(table::import_table(
        table_place(config), log, rules, {!arguments.no_trigger, arguments.order_per_topic}
    ));
    if (common.json) {
        print(admin::import_document(report.moved, report.dead, report.other, !arguments.no_trigger)
        );
        return kFine;
    }
    print("moved " + std::to_string(report.moved) + " rows into the log");
    if (!order.empty()) print(order);
    if (report.dead > 0) print("left " + std::to_string(report.dead) + " dead rows in the table");
    if (report.other > 0) {
        print(
            "left " + std::to_string(report.other) +
            " rows in the table that are neither pending, delivered nor dead by their status"
        );
    }
    print(
        arguments.no_trigger ? "later rows stay in the table"
                             : "later rows are forwarded: now take layout = \"table\" out of "
                               "the configuration and "
                               "restart the relays"
    );
    return kFine;
}

int dispatch_rows(const CommonArguments& common, const DispatchArguments& arguments) {
    const Config config = load(common);
    require_table(config, "dispatch");
    const DestinationConfig& one = choose_destination(config, arguments.destination);
    table::Dispatcher dispatcher(config.store.reveal(), config.table, one.rules, open_broker(one));
    ExitCode code = kFine;
    for (const std::string& id : arguments.ids) {
        const table::Dispatched outcome = dispatcher.dispatch(id);
        const std::string why = dispatcher.error();
        print(
            common.json ? admin::dispatched_document(id, to_string(outcome), why)
                        : printable(id) + " " + std::string(to_string(outcome)) +
                              (why.empty() ? "" : ": " + printable(why))
        );
        code = std::max(code, code_of(outcome));
    }
    return code;
}

}  // namespace outrider::cli
