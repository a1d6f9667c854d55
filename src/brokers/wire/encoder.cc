#include "brokers/wire/encoder.h"

#include <algorithm>

#include "brokers/wire/cloud_event.h"
#include "core/assert.h"
#include "core/clock.h"
#include "core/text.h"

namespace outrider::wire {
namespace {

constexpr std::string_view kOurs = "outrider-";
constexpr std::string_view kContentType = "content-type";

bool begins_with(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() && same_name(text.substr(0, prefix.size()), prefix);
}

bool travels_as_it_is(char c) {
    return c > ' ' && c < '\x7f' && c != '"' && c != '%';
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return lower(x) == lower(y);
    });
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string line;
    line.reserve(text.size());
    for (const char c : text) {
        if (travels_as_it_is(c)) {
            line += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        line += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
    return line;
}

Encoder::Encoder(Options options, Dialect dialect)
    : options_(std::move(options)),
      dialect_(dialect) {
}

Encoded Encoder::encode(const Envelope& envelope) {
    headers_.clear();
    kept_count_ = 0;
    content_type_ = envelope.content_type;
    std::string_view payload = envelope.payload;
    switch (options_.format) {
        case Format::plain:
            add_plain(envelope);
            break;
        case Format::cloudevents_binary:
            add_attributes(envelope);
            break;
        case Format::cloudevents_structured:
            document_.clear();
            append_cloud_event(document_, envelope, options_.source);
            payload = document_;
            content_type_ = kCloudEventContentType;
            break;
    }
    add_own_headers(envelope);
    return {headers_, content_type_, payload};
}

void Encoder::add_plain(const Envelope& envelope) {
    headers_.push_back({"outrider-id", keep(envelope.id.to_string())});
    add("outrider-topic", envelope.topic);
    if (!envelope.key.empty()) add("outrider-key", envelope.key);
    if (!envelope.type.empty()) add("outrider-type", envelope.type);
    headers_.push_back({"outrider-occurred-at", keep(to_iso(envelope.occurred_at))});
}

void Encoder::add_attributes(const Envelope& envelope) {
    add_attribute("specversion", kCloudEventsVersion);
    add_attribute("id", envelope.id.to_string());
    add_attribute("source", options_.source);
    add_attribute("type", cloud_event_type(envelope));
    add_attribute("time", to_iso(envelope.occurred_at));
    if (!envelope.key.empty()) add_attribute("partitionkey", envelope.key);
    for (const std::string_view name : kTraceHeaders) {
        const std::string_view value = header_of(envelope, name);
        if (!value.empty()) add_attribute(name, value);
    }
}

void Encoder::add_attribute(std::string_view name, std::string_view value) {
    add(keep(std::string(dialect_.attribute_prefix) + std::string(name)), keep(std::string(value)));
}

// By their prefix; where attributes have none, by their names.
bool Encoder::is_taken_for_ours(std::string_view name, std::size_t ours_count) const {
    if (options_.format == Format::plain) return begins_with(name, kOurs);
    if (!dialect_.attribute_prefix.empty()) return begins_with(name, dialect_.attribute_prefix);
    const auto end = headers_.begin() + static_cast<std::ptrdiff_t>(ours_count);
    return std::any_of(headers_.begin(), end, [&](const HeaderView& ours) {
        return same_name(ours.name, name);
    });
}

// Headers that would be taken for ours are left out, a content type only where the message has one
// of its own.
void Encoder::add_own_headers(const Envelope& envelope) {
    const std::size_t ours_count = headers_.size();
    for (const HeaderView& header : envelope.headers) {
        if (is_taken_for_ours(header.name, ours_count)) continue;
        if (same_name(header.name, kContentType)) {
            if (content_type_.empty()) content_type_ = header.value;
            continue;
        }
        headers_.push_back(header);
    }
}

void Encoder::add(std::string_view name, std::string_view value) {
    const bool encodes =
        dialect_.percent_encodes && !std::all_of(value.begin(), value.end(), travels_as_it_is);
    headers_.push_back({name, encodes ? keep(percent_encode(value)) : value});
}

std::string_view Encoder::keep(std::string text) {
    OUTRIDER_ASSERT(kept_count_ < kept_.size());
    std::string& place = kept_[kept_count_++];
    place = std::move(text);
    return place;
}

}  // namespace outrider::wire
