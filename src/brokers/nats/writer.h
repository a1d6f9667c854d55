#pragma once

#include <string>

#include "brokers/nats/connection.h"
#include "brokers/nats/options.h"
#include "brokers/wire/encoder.h"
#include "brokers/wire/target.h"
#include "core/verdict.h"

namespace outrider::nats {

// Makes messages for the library out of envelopes. Keeps its memory from message to message. One
// thread at a time.
class Writer {
public:
    Writer(const NatsOptions& options, wire::Target target);

    // The subject that the message goes to. Lives until the next call.
    [[nodiscard]] const std::string& subject_of(const Envelope& envelope);

    // Where the answer goes, and whether the stream may drop the message if it has it already.
    struct Terms {
        std::string reply;
        bool deduplicate = false;
    };

    // The message. Null: it cannot be one, and `flaw` says why.
    [[nodiscard]] Message write(const Envelope& envelope, const Terms& terms, Answer& flaw);

private:
    [[nodiscard]] bool is_fit(const std::string& subject, const Terms& terms, Answer& flaw) const;
    [[nodiscard]] bool add_headers(natsMsg* message, Answer& flaw);
    [[nodiscard]] bool add_content_type(natsMsg* message);
    [[nodiscard]] bool add(natsMsg* message, std::string_view name, std::string_view value);

    const NatsOptions options_;
    const wire::Target target_;
    wire::Encoder encoder_;
    wire::Encoded encoded_;
    std::string subject_;
    std::string name_;
    std::string value_;
};

}  // namespace outrider::nats
