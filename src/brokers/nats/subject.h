#pragma once

#include <string>
#include <string_view>

#include "brokers/wire/target.h"

namespace outrider::nats {

// A target whose own text may stand in a subject: no white space, no wildcard.
[[nodiscard]] Result<wire::Target> parse_target(std::string_view text);

// Appends a value with everything percent-encoded that a subject cannot contain: white space,
// control characters, the wildcards '*' and '>', and '%' itself. Dots stay: they divide tokens.
void append_escaped(std::string& out, std::string_view value);

// What is wrong with a subject made of such parts, for a message that is answered at `reply`;
// empty: nothing.
[[nodiscard]] std::string_view flaw_of(std::string_view subject, std::string_view reply);

// Whether a server obeys what is sent to this subject, or somebody waits there for an answer:
// JetStream and the system ($JS., $SYS., _INBOX.), and whatever begins with `api`, the prefix by
// which JetStream is asked from here (empty: it is not asked). Pure.
[[nodiscard]] bool is_order(std::string_view subject, std::string_view api);

// What is wrong with a header: it would break the lines of the protocol, or tell the server what
// only we may tell it. Empty: nothing.
[[nodiscard]] std::string flaw_of(const HeaderView& header);

}  // namespace outrider::nats
