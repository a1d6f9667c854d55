// How the values of our enumerations are written: in logs, on the command line, in JSON and in the
// configuration.

#include "outrider/destination.h"
#include "outrider/error.h"
#include "outrider/observer.h"

#include "core/finding.h"
#include "core/verdict.h"

namespace outrider {

std::string_view to_string(Remedy remedy) {
    switch (remedy) {
        case Remedy::wait:
            return "wait";
        case Remedy::yield:
            return "yield";
        case Remedy::correct:
            return "correct";
        case Remedy::upgrade:
            return "upgrade";
        case Remedy::call:
            return "call";
    }
    return "?";
}

std::string_view to_string(Order order) {
    switch (order) {
        case Order::key:
            return "key";
        case Order::none:
            return "none";
        case Order::global:
            return "global";
    }
    return "?";
}

std::string_view to_string(Start start) {
    return start == Start::oldest ? "oldest" : "now";
}

std::string_view to_string(OnFailure rule) {
    return rule == OnFailure::block ? "block" : "skip";
}

std::string_view to_string(AfterDeath rule) {
    return rule == AfterDeath::go_on ? "continue" : "hold";
}

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::unanswered:
            return "unanswered";
        case Verdict::acknowledged:
            return "acknowledged";
        case Verdict::refused:
            return "refused";
        case Verdict::unacceptable:
            return "unacceptable";
    }
    return "?";
}

std::string_view to_string(Fate fate) {
    switch (fate) {
        case Fate::left:
            return "left";
        case Fate::done:
            return "done";
        case Fate::again:
            return "again";
        case Fate::dead:
            return "dead";
    }
    return "?";
}

std::string_view to_string(CircuitState state) {
    switch (state) {
        case CircuitState::closed:
            return "closed";
        case CircuitState::open:
            return "open";
        case CircuitState::half_open:
            return "half-open";
    }
    return "?";
}

std::string_view to_string(Gravity gravity) {
    switch (gravity) {
        case Gravity::hint:
            return "hint";
        case Gravity::warning:
            return "warning";
        case Gravity::fault:
            return "fault";
    }
    return "?";
}

std::string_view to_string(Stage stage) {
    switch (stage) {
        case Stage::open:
            return "open";
        case Stage::connect:
            return "connect";
        case Stage::claim:
            return "claim";
        case Stage::publish:
            return "publish";
        case Stage::settle:
            return "settle";
        case Stage::clean_up:
            return "clean_up";
    }
    return "?";
}

}  // namespace outrider
