#include "brokers/nats/writer.h"

#include "brokers/nats/subject.h"

namespace outrider::nats {

Writer::Writer(const NatsOptions& options, wire::Target target)
    : options_(options),
      target_(std::move(target)),
      encoder_(options.wire, {.attribute_prefix = "ce-", .percent_encodes = true}) {
}

const std::string& Writer::subject_of(const Envelope& envelope) {
    subject_.clear();
    target_.append(subject_, envelope, append_escaped);
    return subject_;
}

Message Writer::write(const Envelope& envelope, const Terms& terms, Answer& flaw) {
    const std::string& subject = subject_of(envelope);
    if (!is_fit(subject, terms, flaw)) return nullptr;
    encoded_ = encoder_.encode(envelope);
    natsMsg* made = nullptr;
    const natsStatus status = natsMsg_Create(
        &made,
        subject.c_str(),
        terms.reply.c_str(),
        encoded_.payload.data(),
        static_cast<int>(encoded_.payload.size())
    );
    Message message(made);
    if (status != NATS_OK) {
        flaw.reason = nats_error("cannot make a message", status).text;
        return nullptr;
    }
    if (!add_headers(made, flaw)) return nullptr;
    if (terms.deduplicate && !add(made, "Nats-Msg-Id", envelope.id.to_string())) return nullptr;
    return message;
}

bool Writer::is_fit(const std::string& subject, const Terms& terms, Answer& flaw) const {
    // Whoever writes a topic or a key may not say STREAM.DELETE with the rights of the relay.
    if (is_order(subject, options_.api)) {
        flaw = {
            Verdict::unacceptable,
            "the subject " + subject + " is an order to the server, which only the relay gives"};
        return false;
    }
    const std::string_view wrong = flaw_of(subject, terms.reply);
    if (wrong.empty()) return true;
    // An operator can mend it with another target.
    flaw = {Verdict::refused, std::string(wrong)};
    return false;
}

bool Writer::add_headers(natsMsg* message, Answer& flaw) {
    for (const HeaderView& header : encoded_.headers) {
        if (std::string wrong = flaw_of(header); !wrong.empty()) {
            flaw = {Verdict::unacceptable, std::move(wrong)};
            return false;
        }
        if (!add(message, header.name, header.value)) return false;
    }
    if (!options_.stream.empty() && !add(message, "Nats-Expected-Stream", options_.stream)) {
        return false;
    }
    return encoded_.content_type.empty() || add_content_type(message);
}

bool Writer::add_content_type(natsMsg* message) {
    const bool is_binary = options_.wire.format == wire::Format::cloudevents_binary;
    return add(
        message,
        is_binary ? "ce-datacontenttype" : "content-type",
        wire::percent_encode(encoded_.content_type)
    );
}

// The library wants ends of texts, which views do not have.
bool Writer::add(natsMsg* message, std::string_view name, std::string_view value) {
    name_ = name;
    value_ = value;
    return natsMsgHeader_Add(message, name_.c_str(), value_.c_str()) == NATS_OK;
}

}  // namespace outrider::nats
