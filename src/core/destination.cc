#include "outrider/destination.h"

#include "outrider/error.h"

#include "core/text.h"

namespace outrider {
namespace {

[[noreturn]] void refuse(const Destination& destination, const std::string& text) {
    throw Failure({Remedy::correct, "destination '" + destination.name + "': " + text});
}

void check_name(const Destination& destination) {
    if (is_plain_name(destination.name)) return;
    refuse(destination, "the name must have 1 to 63 characters: letters, digits and - _ . : *");
}

void check_topics(const Destination& destination) {
    if (destination.topics.empty()) {
        refuse(destination, "topics is empty, so it would take nothing; write [\"*\"] for all");
    }
    for (const std::string& pattern : destination.topics) {
        if (pattern.empty()) refuse(destination, "topics contains an empty pattern");
    }
}

void check_retry(const Destination& destination) {
    const Retry& retry = destination.retry;
    if (!(retry.jitter >= 0 && retry.jitter <= 1)) {
        refuse(destination, "retry.jitter must lie between 0 and 1");
    }
    if (retry.delay_first <= Duration::zero()) {
        refuse(destination, "retry.delay_first must be longer than nothing");
    }
    if (retry.delay_max < retry.delay_first) {
        refuse(destination, "retry.delay_max is shorter than retry.delay_first");
    }
}

}  // namespace

void validate(const Destination& destination) {
    check_name(destination);
    check_topics(destination);
    check_retry(destination);
    if (destination.batch.messages == 0) refuse(destination, "batch.messages must be at least 1");
    if (destination.batch.bytes == 0) refuse(destination, "batch.bytes must be at least 1");
    if (destination.workers == 0) refuse(destination, "workers must be at least 1");
    if (destination.publish_deadline <= Duration::zero()) {
        refuse(destination, "publish_deadline must be longer than nothing");
    }
    if (destination.outage_delay_first <= Duration::zero() ||
        destination.outage_delay_max < destination.outage_delay_first) {
        refuse(destination, "outage_delay_max must not be shorter than outage_delay_first");
    }
}

}  // namespace outrider
