#include "brokers/wire/parameters.h"

#include <algorithm>
#include <charconv>

#include "core/nearest.h"

namespace outrider::wire {
namespace {

bool read_number(std::string_view text, std::uint64_t& to) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return false;
    to = value;
    return true;
}

// The length of one unit in milliseconds, taken off the end of the text. 0: there is no unit.
std::uint64_t cut_unit(std::string_view& text) {
    struct Unit {
        std::string_view name;
        std::uint64_t millis;
    };
    for (const Unit& unit : {Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000}}) {
        if (!text.ends_with(unit.name)) continue;
        text.remove_suffix(unit.name.size());
        return unit.millis;
    }
    return 0;
}

}  // namespace

bool Parameters::take(std::string_view name, std::string& value) {
    known_.emplace_back(name);
    const auto found = std::find_if(left_.begin(), left_.end(), [&](const Parameter& parameter) {
        return parameter.name == name;
    });
    if (found == left_.end()) return false;
    value = std::move(found->value);
    left_.erase(found);
    return true;
}

void Parameters::complain(std::string_view name, std::string_view expected) {
    object("the parameter " + std::string(name) + " takes " + std::string(expected));
}

void Parameters::object(std::string text) {
    if (complaint_.empty()) complaint_ = std::move(text);
}

void Parameters::text(std::string_view name, std::string& to) {
    std::string value;
    if (take(name, value)) to = std::move(value);
}

void Parameters::number(std::string_view name, std::uint64_t& to) {
    std::string value;
    if (take(name, value) && !read_number(value, to)) complain(name, "a whole number");
}

void Parameters::duration(std::string_view name, Duration& to) {
    constexpr std::uint64_t kDayMillis = 86'400'000;
    std::string value;
    if (!take(name, value)) return;
    std::string_view digits = value;
    const std::uint64_t unit = cut_unit(digits);
    std::uint64_t count = 0;
    if (unit == 0 || !read_number(digits, count) || count > kDayMillis / unit) {
        complain(name, "a duration of at most a day such as 250ms, 5s or 1m");
        return;
    }
    to = std::chrono::milliseconds(count * unit);
}

void Parameters::flag(std::string_view name, bool& to) {
    int place = to ? 1 : 0;
    choice(name, {"false", "true"}, place);
    to = place == 1;
}

void Parameters::choice(
    std::string_view name,
    const std::vector<std::string_view>& choices,
    int& to
) {
    std::string value;
    if (!take(name, value)) return;
    const auto found = std::find(choices.begin(), choices.end(), value);
    if (found != choices.end()) {
        to = static_cast<int>(found - choices.begin());
        return;
    }
    std::string expected = "one of";
    for (const std::string_view one : choices) expected += " " + std::string(one);
    complain(name, expected);
}

void Parameters::refuse_wire() {
    for (const Parameter& one : left_) {
        if (one.name != "target" && one.name != "format" && one.name != "source") continue;
        object("write " + one.name + " as a key of the destination, not into the URL");
    }
}

void Parameters::wire(Options& to) {
    if (!to.are_in_url) return refuse_wire();
    int format = static_cast<int>(to.format);
    text("target", to.target);
    choice("format", {"plain", "cloudevents-binary", "cloudevents-structured"}, format);
    text("source", to.source);
    to.format = static_cast<Format>(format);
    if (to.source.empty()) complain("source", "a URI reference");
}

// Files that would not be used would make somebody believe in a connection that is not encrypted.
void Parameters::tls(Tls& to, std::string_view scheme) {
    const std::size_t before = left_.size();
    text("tls_ca", to.tls_ca);
    text("tls_cert", to.tls_cert);
    text("tls_key", to.tls_key);
    if (to.tls_cert.empty() != to.tls_key.empty()) object("tls_cert and tls_key belong together");
    const bool has_files = left_.size() != before;
    if (has_files && !to.tls) {
        object("tls_ca and tls_cert are for " + std::string(scheme) + ": URLs");
    }
}

Result<void> Parameters::finish() const {
    if (!complaint_.empty()) return Error{Remedy::correct, complaint_};
    if (left_.empty()) return {};
    const std::string& unknown = left_.front().name;
    std::string text = "unknown parameter " + unknown + ": expected one of";
    for (const std::string& name : known_) text += " " + name;
    return Error{Remedy::correct, text + did_you_mean(unknown, known_)};
}

}  // namespace outrider::wire
