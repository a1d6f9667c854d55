#pragma once

#include <optional>
#include <string>

#include "brokers/http/options.h"
#include "brokers/wire/target.h"

namespace outrider::http {

// The address that a message is posted to: the URL's own path, with the target appended to it. A
// value.
class Place {
public:
    // A target with white space, a control character or a "#" in its own text is an error.
    [[nodiscard]] static Result<Place> parse(const HttpOptions& options);

    // The whole URL, without any login. Values of the message are percent-encoded.
    [[nodiscard]] std::string of(const Envelope& envelope) const;

    // The URL without the target.
    [[nodiscard]] const std::string& base() const { return base_; }

    // Whether different messages may go to different places.
    [[nodiscard]] bool depends_on_message() const { return depends_; }

private:
    std::string base_;
    std::optional<wire::Target> target_;  // nothing: the base is the place
    bool depends_ = false;
};

// Why nothing is posted there: its path has a segment "." or "..", which means another path to many
// servers. Empty: nothing is wrong.
[[nodiscard]] std::string_view flaw_of(std::string_view url);

}  // namespace outrider::http
