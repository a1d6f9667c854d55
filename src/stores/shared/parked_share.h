#pragma once

#include <cstddef>

namespace outrider {

// How many places of a claim those that waited may take: half, so that neither they nor the new can
// starve the other. A single place is theirs every other time: messages that the broker is silent
// about come back again and again, and nobody else would ever be tried. A value.
class ParkedShare {
public:
    [[nodiscard]] std::size_t of(std::size_t places) {
        if (places > 1) return places / 2;
        theirs_ = !theirs_;
        return theirs_ ? 1 : 0;
    }

private:
    bool theirs_ = false;
};

}  // namespace outrider
