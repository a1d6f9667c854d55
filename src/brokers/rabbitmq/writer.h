#pragma once

#include <string>
#include <vector>

#include "brokers/rabbitmq/connection.h"
#include "brokers/rabbitmq/route.h"
#include "brokers/wire/encoder.h"
#include "core/verdict.h"

namespace outrider::rabbitmq {

// Makes publications out of envelopes. Keeps its memory from message to message. One thread at a
// time.
class Writer {
public:
    Writer(const RabbitmqOptions& options, Route route);

    // The exchange of a message. Lives until the next call.
    [[nodiscard]] const std::string& exchange_of(const Envelope& envelope);

    // Fills `publication`, whose views live until the next call. False: it cannot be one, and
    // `flaw` says why. `frame_bytes_max` is what the connection allows.
    [[nodiscard]] bool write(
        const Envelope& envelope,
        std::size_t frame_bytes_max,
        Connection::Publication& publication,
        Answer& flaw
    );

private:
    // How many bytes the headers take on the wire.
    [[nodiscard]] std::size_t add_headers();
    void add_header(std::string_view name, std::string_view value);
    void set_properties(const Envelope& envelope);

    Route route_;
    wire::Encoder encoder_;
    wire::Encoded encoded_;
    std::vector<amqp_table_entry_t> headers_;
    amqp_basic_properties_t properties_{};
    std::string id_;
};

}  // namespace outrider::rabbitmq
