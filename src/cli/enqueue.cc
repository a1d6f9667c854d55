#include <iostream>
#include <utility>

#include "outrider/error.h"
#include "outrider/message.h"

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/drivers.h"
#include "cli/message_json.h"
#include "cli/times.h"
#include "cli/verbs.h"
#include "core/clock.h"

namespace outrider::cli {
namespace {

std::string read_stdin() {
    // One byte above the limit is enough to be refused; more would only fill memory.
    std::string text(EnqueueOptions{}.payload_bytes_max + 1, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::cin.gcount()));
    return text;
}

Header header_of(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw Stop(kUsage, "--header: expected name=value, not '" + text + "'");
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

MessageId given_id(const std::string& text) {
    if (const std::optional<MessageId> id = MessageId::parse(text)) return *id;
    throw Stop(kUsage, "--id: expected a UUID, not '" + text + "'");
}

WallTime moment_of(const std::string& text, WallTime now) {
    if (const std::optional<WallTime> moment = parse_moment(text, now)) return *moment;
    throw Stop(
        kUsage,
        "--deliver-after: expected a moment such as 2026-11-15T12:00:00Z or +5m, not '" + text + "'"
    );
}

Message message_of(const EnqueueArguments& arguments, WallTime now) {
    if (arguments.topic.empty())
        throw Stop(kUsage, "enqueue: give a topic: outrider enqueue TOPIC");
    if (arguments.from_stdin && arguments.has_payload) {
        throw Stop(kUsage, "enqueue: give a payload or --stdin, not both");
    }
    Message message;
    message.topic = arguments.topic;
    message.payload = arguments.from_stdin ? read_stdin() : arguments.payload;
    message.key = arguments.key;
    message.type = arguments.type;
    message.content_type = arguments.content_type;
    for (const std::string& header : arguments.headers)
        message.headers.push_back(header_of(header));
    if (!arguments.id.empty()) message.id = given_id(arguments.id);
    if (!arguments.deliver_after.empty()) {
        message.deliver_after = moment_of(arguments.deliver_after, now);
    }
    try {
        validate(message);
    } catch (const Failure& failure) {
        throw Stop(kUsage, failure.what());
    }
    return message;
}

// What a line says itself, and so nothing else may say.
void refuse_beside_lines(const EnqueueArguments& arguments) {
    const std::pair<const char*, bool> given[] = {
        {"TOPIC", !arguments.topic.empty()},
        {"--stdin", arguments.from_stdin},
        {"--key", !arguments.key.empty()},
        {"--type", !arguments.type.empty()},
        {"--content-type", !arguments.content_type.empty()},
        {"--header", !arguments.headers.empty()},
        {"--id", !arguments.id.empty()},
        {"--deliver-after", !arguments.deliver_after.empty()},
    };
    for (const auto& [name, is_given] : given) {
        if (!is_given) continue;
        throw Stop(
            kUsage,
            "enqueue: with --jsonl every line is a whole message: leave out " + std::string(name)
        );
    }
}

std::vector<Message> read_lines(const EnqueueArguments& arguments, WallTime now) {
    refuse_beside_lines(arguments);
    std::vector<Message> messages;
    std::string line;
    for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        try {
            messages.push_back(message_from_json(line, now));
        } catch (const Failure& failure) {
            throw Stop(
                kUsage,
                "line " + std::to_string(number) +
                    ": nothing was written, correct the line and run it again: " + failure.what()
            );
        }
    }
    return messages;
}

}  // namespace

int enqueue_message(const CommonArguments& common, const EnqueueArguments& arguments) {
    const Config config = load_for_store(common);
    const WallTime now = SystemClock().wall();
    std::vector<Message> messages;
    if (arguments.jsonl) {
        messages = read_lines(arguments, now);
    } else {
        messages.push_back(message_of(arguments, now));
    }
    std::string out;
    for (const MessageId& id : enqueue_all(config, messages)) {
        if (!out.empty()) out += '\n';
        out += common.json ? admin::enqueued_document(id) : id.to_string();
    }
    if (out.empty()) return kFine;
    try {
        print(out);
    } catch (const Stop& stop) {
        throw Stop(
            kFailed, std::string(stop.what()) + ", but everything was written: do not repeat it"
        );
    }
    return kFine;
}

}  // namespace outrider::cli
