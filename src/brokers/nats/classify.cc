#include "brokers/nats/classify.h"

#include <array>

#include "brokers/nats/json.h"

namespace outrider::nats {
namespace {

struct Row {
    int err_code;
    Verdict verdict;
};

constexpr std::array<Row, 18> kRows = {{
    // The message itself.
    {10054, Verdict::unacceptable},  // larger than the stream's max_msg_size
    {10097, Verdict::unacceptable},  // headers larger than 64 KiB
    // The server, the account or the stream's leader as a whole.
    {10001, Verdict::unanswered},  // an account's resources are exhausted
    {10008, Verdict::unanswered},  // JetStream is temporarily unavailable
    {10023, Verdict::unanswered},  // insufficient resources
    {10028, Verdict::unanswered},  // out of memory storage
    {10047, Verdict::unanswered},  // out of disk storage
    {10009, Verdict::unanswered},  // no peers
    {10118, Verdict::unanswered},  // the stream is offline
    {10167, Verdict::unanswered},  // too many requests
    {10039, Verdict::unanswered},  // JetStream is not enabled for the account
    {10076, Verdict::unanswered},  // JetStream is not enabled
    // The stream: an operator can mend it.
    {10060, Verdict::refused},  // not the expected stream
    {10059, Verdict::refused},  // no such stream
    {10077, Verdict::refused},  // full (maximum messages or bytes, discard new)
    {10070, Verdict::refused},  // wrong last message id
    {10071, Verdict::refused},  // wrong last sequence
    {10109, Verdict::refused},  // sealed
}};

constexpr int kUnavailable = 500;
constexpr int kTooMany = 429;

Answer read_error(const JsonObject& error) {
    const int code = static_cast<int>(error.number("code"));
    const int err_code = static_cast<int>(error.number("err_code"));
    return {
        classify(code, err_code),
        "JetStream said: " + error.text("description") + " (" + std::to_string(err_code) + ")"};
}

}  // namespace

Verdict classify(int code, int err_code) {
    for (const Row& row : kRows) {
        if (row.err_code == err_code) return row.verdict;
    }
    return code >= kUnavailable || code == kTooMany ? Verdict::unanswered : Verdict::refused;
}

std::optional<Ack> read_ack(std::string_view text, std::string_view expected_stream) {
    const std::optional<JsonObject> ack = JsonObject::parse(text);
    if (!ack) return std::nullopt;
    if (const auto error = JsonObject::parse(ack->raw("error")); error) {
        return Ack{.answer = read_error(*error)};
    }
    Ack found{
        .answer = {Verdict::acknowledged, {}},
        .stream = ack->text("stream"),
        .sequence = ack->number("seq"),
        .is_duplicate = ack->raw("duplicate") == "true"};
    if (found.stream.empty()) return std::nullopt;
    if (found.sequence == 0) {
        return Ack{.answer = {Verdict::unanswered, "JetStream acknowledged without a sequence"}};
    }
    if (!expected_stream.empty() && found.stream != expected_stream) {
        std::string why = "the stream " + found.stream + " took it, not the expected one";
        return Ack{.answer = {Verdict::refused, std::move(why)}};
    }
    return found;
}

}  // namespace outrider::nats
