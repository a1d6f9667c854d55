#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/batch.h"

namespace outrider::wire {

inline constexpr std::string_view kCloudEventsVersion = "1.0";
inline constexpr std::string_view kCloudEventContentType = "application/cloudevents+json";

// CloudEvents wants a type; a message without one has its topic for it.
[[nodiscard]] std::string_view cloud_event_type(const Envelope& envelope);

// W3C trace context: headers that are attributes of a CloudEvent as well.
inline constexpr std::array<std::string_view, 2> kTraceHeaders = {"traceparent", "tracestate"};

// The value of the first header of that name; empty: there is none.
[[nodiscard]] std::string_view header_of(const Envelope& envelope, std::string_view name);

// Appends the message as a CloudEvent in JSON. The payload becomes `data` as it is where its
// content type says JSON and it is; a string where the content type says text and it is UTF-8;
// `data_base64` everywhere else.
void append_cloud_event(std::string& out, const Envelope& envelope, std::string_view source);

}  // namespace outrider::wire
