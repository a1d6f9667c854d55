#pragma once

#include <string>

#include "brokers/mqtt/connection.h"
#include "brokers/mqtt/options.h"
#include "brokers/wire/encoder.h"
#include "brokers/wire/target.h"
#include "core/verdict.h"

namespace outrider::mqtt {

// One message as the library takes it. The payload lives until the next one is written.
struct Publication {
    std::string topic;
    std::string_view payload;
    Properties properties;
};

// Makes publications out of envelopes. Keeps its memory from message to message. One thread at a
// time.
class Writer {
public:
    Writer(const MqttOptions& options, wire::Target target);

    // False: the message cannot be one, and `flaw` says why.
    [[nodiscard]] bool write(const Envelope& envelope, Publication& to, Answer& flaw);

private:
    [[nodiscard]] bool add_headers(const wire::Encoded& encoded, Publication& to, Answer& flaw);

    const MqttOptions options_;
    const wire::Target target_;
    wire::Encoder encoder_;
};

}  // namespace outrider::mqtt
