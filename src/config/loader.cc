#include "config/loader.h"

#include <algorithm>
#include <filesystem>

#include "outrider/error.h"

#include "config/toml.h"
#include "core/nearest.h"

namespace outrider {
namespace {

template <class Rows>
auto find_row(const Rows& rows, std::string_view name) -> decltype(rows.data()) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
        return row.option.name == name;
    });
    return found == rows.end() ? nullptr : &*found;
}

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
    std::vector<std::string> names;
    for (const auto& row : rows) names.emplace_back(row.option.name);
    return names;
}

// Whether options live below this name: "relay", "retry".
bool is_table_name(const std::vector<std::string>& names, const std::string& name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& known) {
        return known.starts_with(name + ".");
    });
}

std::string_view last_part(std::string_view key) {
    return key.substr(key.rfind('.') + 1);
}

// What may stand in this table ("" or "relay."): its keys and the tables below it.
std::vector<std::string> members_of(
    const std::vector<std::string>& names,
    const std::string& prefix
) {
    std::vector<std::string> members;
    for (const std::string& name : names) {
        if (!name.starts_with(prefix)) continue;
        const std::string member =
            name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size());
        const bool known = std::find(members.begin(), members.end(), member) != members.end();
        if (!known) members.push_back(member);
    }
    return members;
}

// The known name that was perhaps meant: one like it in the same table, or the same in another.
std::string nearest_key(
    const std::vector<std::string>& names,
    const std::string& prefix,
    const std::string& key
) {
    const std::string near = nearest(key.substr(prefix.size()), members_of(names, prefix));
    if (!near.empty()) return prefix + near;
    const auto same = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return last_part(name) == last_part(key);
    });
    return same == names.end() ? "" : *same;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

// A key or a table that nobody knows, where `names` are known.
Problem unknown_key(
    const Node& node,
    const std::string& prefix,
    const std::vector<std::string>& names
) {
    const std::string key = prefix + node.name;
    if (is_table_name(names, key)) {
        const std::string text = "' is a table: write [" + key + "] and its keys below it";
        return {node.origin, "'" + key + text, {}};
    }
    const std::string what = node.shape == Node::Shape::table ? "unknown table '" : "unknown key '";
    Problem problem{node.origin, what + key + "'", nearest_key(names, prefix, key)};
    if (problem.nearest.empty()) {
        problem.text += ": expected one of " + joined(members_of(names, prefix));
    }
    return problem;
}

}  // namespace

void Loader::report(Origin origin, std::string text, std::string nearest) {
    problems_.push_back({std::move(origin), std::move(text), std::move(nearest)});
}

void Loader::report_unknown(Problem problem) {
    problems_.push_back(std::move(problem));
    is_whole_ = false;
}

void Loader::set(const GlobalRow& row, const Node& value) {
    if (auto misfit = assign(row.option, row.field(config_), value)) {
        if (row.option.name == "store.url") is_whole_ = false;
        report(value.origin, std::move(misfit->text), std::move(misfit->nearest));
    } else {
        config_.origins[std::string(row.option.name)] = value.origin;
    }
}

void Loader::set(const DestinationRow& row, DestinationConfig& destination, const Node& value) {
    if (auto misfit = assign(row.option, row.field(destination), value)) {
        const std::string of =
            destination.rules.name.empty() ? "" : "destination '" + destination.rules.name + "': ";
        report(value.origin, of + misfit->text, std::move(misfit->nearest));
    } else if (row.option.name == "broker") {
        destination.broker_origin = value.origin;
    }
}

void Loader::read_file(const std::string& path) {
    if (path.empty()) return;
    Node root;
    Problem problem;
    if (!read_toml(path, root, problem)) {
        return report_unknown(std::move(problem));
    }
    read_table(root, {});
}

void Loader::read_table(const Node& table, const std::string& prefix) {
    std::vector<std::string> names = names_of(global_rows());
    names.emplace_back("destination");
    for (const Node& child : table.children) {
        const std::string key = prefix + child.name;
        const bool is_table = child.shape == Node::Shape::table && is_table_name(names, key);
        if (key == "destination") {
            read_destinations(child);
        } else if (is_table) {
            read_table(child, key + ".");
        } else if (const GlobalRow* row = find_row(global_rows(), key)) {
            set(*row, child);
        } else {
            report_unknown(unknown_key(child, prefix, names));
        }
    }
}

void Loader::read_destinations(const Node& list) {
    if (list.shape != Node::Shape::list) {
        report(list.origin, "there may be several destinations: write [[destination]]");
        return;
    }
    for (const Node& table : list.children) {
        if (table.shape == Node::Shape::table) {
            read_destination(table);
        } else {
            report(table.origin, "expected a table: write [[destination]] and its keys below it");
        }
    }
}

void Loader::read_destination(const Node& table) {
    DestinationConfig read;
    read.origin = table.origin;
    read_destination_table(table, {}, read);
    if (read.rules.name.empty()) {
        report(table.origin, "this destination has no name: write name = \"orders\"");
    } else if (const DestinationConfig* first = find_destination(read.rules.name)) {
        const std::string where = first->origin.text;
        report(
            table.origin,
            "destination '" + read.rules.name + "' exists already, at " + where +
                ": each needs a name of its own"
        );
    } else {
        config_.destinations.push_back(std::move(read));
    }
}

void Loader::read_destination_table(
    const Node& table,
    const std::string& prefix,
    DestinationConfig& destination
) {
    const std::vector<std::string> names = names_of(destination_rows());
    for (const Node& child : table.children) {
        const std::string key = prefix + child.name;
        const bool is_table = child.shape == Node::Shape::table && is_table_name(names, key);
        if (is_table) {
            read_destination_table(child, key + ".", destination);
        } else if (const DestinationRow* row = find_row(destination_rows(), key)) {
            set(*row, destination, child);
        } else {
            problems_.push_back(unknown_key(child, prefix, names));
        }
    }
}

DestinationConfig* Loader::find_destination(std::string_view name) {
    const auto found = std::find_if(
        config_.destinations.begin(),
        config_.destinations.end(),
        [&](const DestinationConfig& one) { return one.rules.name == name; }
    );
    return found == config_.destinations.end() ? nullptr : &*found;
}

DestinationConfig& Loader::destination(std::string_view name, const Origin& origin) {
    if (DestinationConfig* known = find_destination(name)) return *known;
    DestinationConfig made;
    made.rules.name = name;
    made.origin = origin;
    return config_.destinations.emplace_back(std::move(made));
}

std::vector<std::string> Loader::destination_names() const {
    std::vector<std::string> names;
    for (const DestinationConfig& one : config_.destinations) names.push_back(one.rules.name);
    return names;
}

Loader::Target Loader::split_key(std::string_view key) const {
    Target best;
    for (const DestinationRow& row : destination_rows()) {
        const std::string tail = "." + std::string(row.option.name);
        if (key.size() <= tail.size() || !key.ends_with(tail)) continue;
        if (tail.size() <= best.key.size()) continue;
        best = {std::string(key.substr(0, key.size() - tail.size())), tail.substr(1), &row};
    }
    if (best.row != nullptr) return best;
    const std::size_t dot = std::min(key.find('.'), key.size());
    return {
        std::string(key.substr(0, dot)),
        std::string(key.substr(std::min(dot + 1, key.size()))),
        nullptr};
}

void Loader::expect_flags(const std::vector<ConfigFlag>& flags) {
    constexpr std::string_view kPrefix = "destination.";
    for (const ConfigFlag& flag : flags) {
        if (!flag.key.starts_with(kPrefix)) continue;
        const Target target = split_key(std::string_view(flag.key).substr(kPrefix.size()));
        if (target.row != nullptr) destination(target.name, flag.origin);
    }
}

void Loader::read_flags(const std::vector<ConfigFlag>& flags) {
    for (const ConfigFlag& flag : flags) read_flag(flag);
}

void Loader::read_flag(const ConfigFlag& flag) {
    constexpr std::string_view kPrefix = "destination.";
    Node value;
    value.text = flag.value;
    value.origin = flag.origin;
    if (const GlobalRow* row = find_row(global_rows(), flag.key)) return set(*row, value);
    if (!flag.key.starts_with(kPrefix)) {
        const std::string near = nearest(flag.key, names_of(global_rows()));
        return report_unknown({flag.origin, "unknown key '" + flag.key + "'", near});
    }
    const Target target = split_key(std::string_view(flag.key).substr(kPrefix.size()));
    if (target.key == "name") {
        return report(
            flag.origin, "the name is a part of the key: write destination.NAME.broker=URL"
        );
    }
    if (target.row == nullptr) {
        std::string near = nearest(target.key, names_of(destination_rows()));
        if (!near.empty()) near = std::string(kPrefix) + target.name + "." + near;
        return report(flag.origin, "unknown key '" + flag.key + "'", near);
    }
    set(*target.row, destination(target.name, flag.origin), value);
}

void Loader::check(DestinationConfig& destination) {
    if (destination.broker.empty()) {
        std::vector<std::string> others = destination_names();
        std::erase(others, destination.rules.name);
        report(
            destination.origin,
            "destination '" + destination.rules.name +
                "' has no broker: write broker = \"file:///var/log/shop/orders.jsonl\"",
            nearest(destination.rules.name, others)
        );
    }
    try {
        validate(destination.rules);
    } catch (const Failure& failure) {
        report(destination.origin, failure.what());
    }
}

LoadedConfig Loader::finish() && {
    for (DestinationConfig& one : config_.destinations) check(one);
    if (config_.relay.reconnect_delay_max < config_.relay.reconnect_delay_first) {
        report({"relay"}, "reconnect_delay_max is shorter than reconnect_delay_first");
    }
    return {std::move(config_), std::move(problems_), is_whole_};
}

Origin origin_of(const Config& config, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        const auto found = config.origins.find(key);
        if (found != config.origins.end()) return found->second;
    }
    return {std::string(*keys.begin())};
}

LoadedConfig load_config(const ConfigSources& sources) {
    Loader loader;
    loader.read_file(sources.file);
    loader.expect_flags(sources.flags);
    loader.read_environment(sources.environment);
    loader.read_flags(sources.flags);
    return std::move(loader).finish();
}

std::string choose_config_file(
    const std::string& flag,
    const std::vector<std::string>& environment
) {
    constexpr std::string_view kVariable = "OUTRIDER_CONFIG=";
    if (!flag.empty()) return flag;
    for (const std::string& entry : environment) {
        if (entry.starts_with(kVariable) && entry.size() > kVariable.size()) {
            return entry.substr(kVariable.size());
        }
    }
    std::error_code error;
    return std::filesystem::exists("outrider.toml", error) ? "outrider.toml" : "";
}

}  // namespace outrider
