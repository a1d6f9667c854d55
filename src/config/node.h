#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/problem.h"

namespace outrider {

// A value as it was written, before anybody knows what it should be. Of a table, the children are
// its members in the order of the file; of a list, its items.
struct Node {
    enum class Shape : std::uint8_t {
        loose,  // text of a variable or a flag, which may mean a number or a list as well
        text,
        number,
        list,
        table,
        other,  // a truth value, a date: nothing of ours is one
    };
    Shape shape = Shape::loose;
    std::string name;
    std::string text;
    std::vector<Node> children;
    Origin origin;
};

}  // namespace outrider
