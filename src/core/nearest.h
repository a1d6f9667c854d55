#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace outrider {

// How many letters must be changed, put in, left out or swapped with a neighbour to get from one
// text to the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name that is most like the text; empty if none is like it.
template <class Names>
[[nodiscard]] std::string nearest(std::string_view text, const Names& known) {
    std::size_t best = text.size() / 3 + 1;
    std::string found;
    for (const auto& name : known) {
        const std::size_t distance = edit_distance(text, name);
        if (distance > best || (distance == best && !found.empty())) continue;
        best = distance;
        found = std::string(name);
    }
    return found;
}

// What an error says of a name that is not known: "; did you mean 'orders'?", or nothing.
template <class Names>
[[nodiscard]] std::string did_you_mean(std::string_view text, const Names& known) {
    const std::string near = nearest(text, known);
    return near.empty() ? near : "; did you mean '" + near + "'?";
}

}  // namespace outrider
