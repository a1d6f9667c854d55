#include "brokers/mqtt/classify.h"

#include <mqtt_protocol.h>

namespace outrider::mqtt {

Verdict classify(int reason_code, NoSubscribers no_subscribers) {
    switch (reason_code) {
        case MQTT_RC_SUCCESS:
            return Verdict::acknowledged;
        case MQTT_RC_NO_MATCHING_SUBSCRIBERS:
            return no_subscribers == NoSubscribers::acknowledged ? Verdict::acknowledged
                                                                 : Verdict::refused;
        case MQTT_RC_PACKET_TOO_LARGE:
        case MQTT_RC_PAYLOAD_FORMAT_INVALID:
            return Verdict::unacceptable;
        case MQTT_RC_PACKET_ID_IN_USE:
        case MQTT_RC_PACKET_ID_NOT_FOUND:
            return Verdict::unanswered;  // we and the server disagree about what is under way
        default:
            // Not permitted, over quota, a name that somebody may not use: an operator can mend it.
            return reason_code >= MQTT_RC_UNSPECIFIED ? Verdict::refused : Verdict::unanswered;
    }
}

}  // namespace outrider::mqtt
