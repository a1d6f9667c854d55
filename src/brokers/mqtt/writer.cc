#include "brokers/mqtt/writer.h"

#include <mqtt_protocol.h>

#include "brokers/mqtt/topic.h"

namespace outrider::mqtt {

// Attributes of CloudEvents have no prefix and are plain UTF-8, as the published binding says. Our
// own values may contain what MQTT does not take.
Writer::Writer(const MqttOptions& options, wire::Target target)
    : options_(options),
      target_(std::move(target)),
      encoder_(
          options.wire,
          {.attribute_prefix = "", .percent_encodes = options.wire.format == wire::Format::plain}
      ) {
}

bool Writer::write(const Envelope& envelope, Publication& to, Answer& flaw) {
    to.topic.clear();
    target_.append(to.topic, envelope, append_escaped);
    if (const std::string_view wrong = flaw_of_topic(to.topic); !wrong.empty()) {
        // An operator can mend it with another target.
        flaw = {Verdict::refused, std::string(wrong), {}};
        return false;
    }
    const wire::Encoded encoded = encoder_.encode(envelope);
    to.payload = encoded.payload;
    return add_headers(encoded, to, flaw);
}

bool Writer::add_headers(const wire::Encoded& encoded, Publication& to, Answer& flaw) {
    mosquitto_property* list = nullptr;
    int code = MOSQ_ERR_SUCCESS;
    for (const HeaderView& header : encoded.headers) {
        if (!is_text(header.name) || !is_text(header.value)) code = MOSQ_ERR_MALFORMED_UTF8;
        if (code != MOSQ_ERR_SUCCESS) break;
        code = mosquitto_property_add_string_pair(
            &list,
            MQTT_PROP_USER_PROPERTY,
            std::string(header.name).c_str(),
            std::string(header.value).c_str()
        );
    }
    if (code == MOSQ_ERR_SUCCESS && !encoded.content_type.empty()) {
        const std::string type(encoded.content_type);
        code = is_text(type)
                   ? mosquitto_property_add_string(&list, MQTT_PROP_CONTENT_TYPE, type.c_str())
                   : MOSQ_ERR_MALFORMED_UTF8;
    }
    to.properties.reset(list);
    if (code == MOSQ_ERR_SUCCESS) return true;
    const bool is_flaw = code == MOSQ_ERR_MALFORMED_UTF8;
    flaw.verdict = is_flaw ? Verdict::unacceptable : Verdict::unanswered;
    flaw.reason = mqtt_error("a header is no text that MQTT takes", code).text;
    return false;
}

}  // namespace outrider::mqtt
