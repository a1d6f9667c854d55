#include "cli/store_table.h"

#include "cli/exit_code.h"
#include "stores/table/advice.h"
#include "stores/table/driver.h"

namespace outrider::cli {
namespace {

std::vector<Destination> rules_of(const Config& config) {
    std::vector<Destination> rules;
    for (const DestinationConfig& one : config.destinations) rules.push_back(one.rules);
    return rules;
}

// Each begins with its key. One that is missing is missed where the layout is chosen.
Problems layout_problems(const Config& config) {
    Problems problems;
    for (const std::string& text : table::layout_problems(config.table)) {
        const std::string_view key = std::string_view(text).substr(0, text.find(':'));
        problems.push_back(
            {origin_of(config, {key, "store.table.preset", "store.table.name", "store.layout"}),
             text,
             {}}
        );
    }
    return problems;
}

}  // namespace

Problems check_table(const Config& config) {
    if (Problems problems = layout_problems(config); !problems.empty()) return problems;
    const std::vector<Destination> all = rules_of(config);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].start == Start::now) {
            return {{config.destinations[i].origin, table::no_start_now(all[i]).text, {}}};
        }
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            if (const auto why = table::clash(all[i], all[j])) {
                return {{config.destinations[j].origin, *why, {}}};
            }
        }
    }
    return {};
}

table::TablePlace table_place(const Config& config) {
    Result<table::Layout> layout = table::layout_of(config.table);
    if (!layout) throw Stop(kUsage, layout.error().text);
    return {
        config.store.reveal(),
        std::move(layout).value(),
        config.postgres.settle == postgres::Settle::durable};
}

std::shared_ptr<StoreDriver> open_table(const Config& config) {
    return std::make_shared<table::TableDriver>(table_place(config), rules_of(config));
}

std::string table_schema_text(const Config& config) {
    const table::Layout layout = table_place(config).layout;
    table::Facts facts;
    facts.schema = layout.schema;
    facts.table = layout.table;
    return "-- The table is yours. This index lets a relay find the oldest pending rows at "
           "once.\n" +
           table::index_statement(table::Wording(layout, facts)) + ";";
}

}  // namespace outrider::cli
