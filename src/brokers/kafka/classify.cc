#include "brokers/kafka/classify.h"

namespace outrider::kafka {

Meaning meaning_of(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status) {
    switch (error) {
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
            return Meaning::messages;
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:  // of now: the clocks differ
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
            return Meaning::topic;
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
        case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
        case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
            return Meaning::partition;
        default:
            break;
    }
    const bool is_unsent = status == RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
    // The library has dropped the partition, since the topic is gone: it says so of what was not
    // sent.
    if (error == RD_KAFKA_RESP_ERR__DESTROY && is_unsent) return Meaning::topic;
    return is_unsent ? Meaning::unsent : Meaning::unknown;
}

bool leaves_gap(rd_kafka_resp_err_t error) {
    const Meaning meaning = meaning_of(error, RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED);
    if (meaning == Meaning::topic || meaning == Meaning::messages) return false;
    return error > RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR__TRANSPORT ||
           error == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT;
}

}  // namespace outrider::kafka
