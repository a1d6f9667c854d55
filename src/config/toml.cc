#include "config/toml.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <toml++/toml.h>

#include "config/values.h"

namespace outrider {
namespace {

constexpr std::size_t kFileBytesMax = 1U << 20U;

Origin origin_of(const std::string& path, const toml::source_position& place) {
    if (place.line == 0) return {path};
    return {path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column)};
}

class Converter {
public:
    explicit Converter(const std::string& path) : path_(path) {}

    Node convert(std::string name, const toml::source_position& place, const toml::node& from) {
        Node node;
        node.name = std::move(name);
        node.origin = origin_of(path_, place);
        if (const auto* table = from.as_table()) {
            node.shape = Node::Shape::table;
            convert_members(*table, node);
        } else if (const auto* list = from.as_array()) {
            node.shape = Node::Shape::list;
            for (const toml::node& item : *list) {
                node.children.push_back(convert({}, item.source().begin, item));
            }
        } else {
            convert_plain(from, node);
        }
        return node;
    }

private:
    // toml++ sorts members by name; people read problems from top to bottom.
    void convert_members(const toml::table& table, Node& node) {
        std::vector<std::pair<toml::source_position, const toml::key*>> keys;
        for (const auto& [key, value] : table) keys.emplace_back(key.source().begin, &key);
        std::sort(keys.begin(), keys.end());
        for (const auto& [place, key] : keys) {
            node.children.push_back(convert(std::string(key->str()), place, *table.get(*key)));
        }
    }

    static void convert_plain(const toml::node& from, Node& node) {
        if (const auto* text = from.as_string()) {
            node.shape = Node::Shape::text;
            node.text = text->get();
        } else if (const auto* integer = from.as_integer()) {
            node.shape = Node::Shape::number;
            node.text = std::to_string(integer->get());
        } else if (const auto* number = from.as_floating_point()) {
            node.shape = Node::Shape::number;
            node.text = format_number(number->get());
        } else {
            node.shape = Node::Shape::other;
        }
    }

    const std::string& path_;
};

bool read_text(const std::string& path, std::string& text, Problem& problem) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    text.resize(kFileBytesMax + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.is_open() || file.bad()) {
        problem = {{path}, std::string("cannot read it: ") + std::strerror(errno), {}};
        return false;
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() <= kFileBytesMax) return true;
    problem = {{path}, "has more than 1 MiB: that is no configuration", {}};
    return false;
}

}  // namespace

bool read_toml(const std::string& path, Node& root, Problem& problem) {
    std::string text;
    if (!read_text(path, text, problem)) return false;
    try {
        const toml::table table = toml::parse(text, path);
        root = Converter(path).convert({}, {}, table);
        return true;
    } catch (const toml::parse_error& error) {
        problem = {
            origin_of(path, error.source().begin),
            "not valid TOML: " + std::string(error.description()),
            {}};
        return false;
    }
}

}  // namespace outrider
