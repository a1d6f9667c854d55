#include "admin/doctor.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace outrider::admin {
namespace {

// A message that waits this long, and nobody there to take it.
constexpr Duration kPatience = std::chrono::minutes(1);

void judge_one(const DestinationStatus& status, std::vector<Finding>& findings) {
    const std::string name = "destination '" + status.name + "'";
    if (status.circuit != CircuitState::closed) {
        findings.push_back(
            {Gravity::fault,
             "circuit",
             name + " gets no answer from its broker: " + status.circuit_reason,
             "mend the broker; delivery goes on by itself"}
        );
    }
    if (status.paused && status.pending > 0) {
        findings.push_back(
            {Gravity::hint,
             "paused",
             name + " is paused with " + std::to_string(status.pending) + " messages pending",
             "run 'outrider destination resume " + status.name + "'"}
        );
    }
    const bool waits = status.oldest_pending_age && *status.oldest_pending_age > kPatience;
    if (waits && !status.paused && !status.relay_running) {
        findings.push_back(
            {Gravity::fault,
             "unserved",
             name + " has messages pending for over a minute, and no relay at work",
             "start 'outrider relay' with it (one behind a pooler is not seen here: look at its "
             "log), "
             "or run 'outrider destination forget " +
                 status.name + "' if it is gone: it holds back clean-up"}
        );
    }
    if (waits && !status.paused && status.relay_running && status.rate == 0 &&
        status.circuit == CircuitState::closed) {
        findings.push_back(
            {Gravity::warning,
             "stalled",
             name + " has messages pending for over a minute, a relay that has it, and no delivery",
             "look at that relay's log; if it is frozen or has lost the database, start it again"}
        );
    }
    if (!status.parked_reason.empty()) {
        findings.push_back(
            {Gravity::warning,
             "refused",
             name + " has " + std::to_string(status.parked) +
                 " messages parked; the broker refused one of them: " + status.parked_reason,
             "mend what the reason names; they are tried again by themselves until they are dead"}
        );
    }
    if (status.dead > 0) {
        findings.push_back(
            {Gravity::warning,
             "dead_letters",
             name + " has " + std::to_string(status.dead) + " dead letters",
             "see 'outrider dead list', then replay or discard them"}
        );
    }
}

}  // namespace

std::vector<Finding> judge(const Backlog& backlog) {
    std::vector<Finding> findings;
    for (const DestinationStatus& status : backlog.destinations) judge_one(status, findings);
    for (const UnroutedTopic& topic : backlog.unrouted) {
        findings.push_back(
            {Gravity::hint,
             "unrouted",
             "no destination takes the topic '" + topic.topic + "'",
             "add a destination for it; or add it to one, and send what is there with 'outrider "
             "replay --destination NAME --from 0 --topic TOPIC'; or leave it: its messages go when "
             "their retention is over"}
        );
    }
    return findings;
}

std::optional<Finding> judge(const std::string& destination, const Result<BrokerFacts>& facts) {
    const std::string who = "the broker of '" + destination + "': ";
    if (!facts) {
        const bool is_away = facts.error().remedy == Remedy::wait;
        return Finding{
            Gravity::fault,
            "broker",
            who + facts.error().text,
            is_away ? "mend the broker; delivery goes on by itself"
                    : "correct the server or the destination as it says"};
    }
    if (facts->risk.empty()) return std::nullopt;
    return Finding{
        Gravity::warning,
        "broker_risk",
        who + facts->risk,
        "until then messages may be lost there"};
}

bool is_healthy(const std::vector<Finding>& findings) {
    return std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.gravity == Gravity::hint;
    });
}

std::string doctor_document(const std::vector<Finding>& findings) {
    nlohmann::ordered_json json = {
        {"healthy", is_healthy(findings)}, {"findings", nlohmann::ordered_json::array()}};
    for (const Finding& finding : findings) {
        json["findings"].push_back(
            {{"gravity", to_string(finding.gravity)},
             {"code", finding.code},
             {"what", finding.what},
             {"advice", finding.advice}}
        );
    }
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace outrider::admin
