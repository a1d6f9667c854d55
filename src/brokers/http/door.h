#pragma once

#include <string>
#include <string_view>

namespace outrider::http {

// What a receiver has said at its door since it last let a message in. Where messages go to
// different places there, one of them says nothing about the others: behind a gateway, a service of
// its own may be down. So two must turn messages away before the receiver as a whole is down. Of
// one worker; one thread at a time.
class Door {
public:
    explicit Door(bool has_many_places) : has_many_places_(has_many_places) {}

    void let_in() {
        first_.clear();
        is_shut_ = false;
    }

    void turn_away(std::string_view place) {
        if (first_.empty()) first_ = place;
        if (!has_many_places_ || first_ != place) is_shut_ = true;
    }

    [[nodiscard]] bool is_shut() const { return is_shut_; }

private:
    const bool has_many_places_;
    std::string first_;  // the place that has turned a message away; empty: none has
    bool is_shut_ = false;
};

}  // namespace outrider::http
