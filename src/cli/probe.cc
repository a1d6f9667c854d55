// outrider destination test: what a destination's broker is, and whether it takes a message.

#include <array>

#include "admin/documents.h"
#include "cli/context.h"
#include "cli/destination_names.h"
#include "cli/drivers.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "core/clock.h"

namespace outrider::cli {
namespace {

constexpr std::string_view kProbe = "outrider.probe";

// A topic that the destination takes: the one that was asked for, else the first that is no
// pattern.
std::string choose_topic(const DestinationConfig& one, const std::string& asked) {
    if (!asked.empty()) return asked;
    for (const std::string& topic : one.rules.topics) {
        if (topic.find('*') == std::string::npos) return topic;
    }
    throw Stop(
        kUsage, "'" + one.rules.name + "' takes topics by patterns: name one for it with --topic"
    );
}

void publish_probe(
    Broker& broker,
    const std::string& topic,
    Deadline deadline,
    admin::BrokerFinding& finding
) {
    Envelope probe;
    probe.id = MessageId::generate();
    probe.topic = topic;
    probe.key = kProbe;
    probe.type = kProbe;
    probe.content_type = "application/json";
    probe.payload = R"({"probe":true})";
    probe.occurred_at =
        std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
    probe.seq = 1;
    std::array<Answer, 1> answers;
    const MonoTime start = SystemClock().now();
    broker.publish({&probe, 1}, deadline, answers);
    const std::chrono::duration<double, std::milli> took = SystemClock().now() - start;
    finding.probe_id = probe.id.to_string();
    finding.probe_verdict = std::string(to_string(answers[0].verdict));
    finding.probe_millis = took.count();
    finding.error = answers[0].reason;
}

int show(const CommonArguments& common, const admin::BrokerFinding& finding) {
    const bool is_delivered = finding.probe_id.empty() || finding.probe_verdict == "acknowledged";
    if (common.json) {
        print(admin::broker_document(finding));
    } else {
        print("destination  " + printable(finding.destination));
        print("broker       " + printable(finding.broker));
        if (!finding.server.empty()) print("server       " + printable(finding.server));
        if (!finding.durability.empty()) {
            print("acknowledged means: " + printable(finding.durability));
        }
        if (!finding.risk.empty()) print("risk         " + printable(finding.risk));
        if (!finding.probe_id.empty()) {
            print("probe        " + finding.probe_id + " " + finding.probe_verdict);
        }
        if (!finding.error.empty()) print("error        " + printable(finding.error));
    }
    if (!finding.connected) return kCannotConnect;
    return is_delivered ? kFine : kFailed;
}

}  // namespace

int destination_test(const CommonArguments& common, const DestinationArguments& arguments) {
    const Config config = load(common);
    const DestinationConfig& one = find_destination(config, arguments.name);
    if (!arguments.publish && !arguments.topic.empty()) {
        throw Stop(kUsage, "--topic is for --publish: without it nothing is published");
    }
    const std::string topic = arguments.publish ? choose_topic(one, arguments.topic) : "";
    const std::shared_ptr<BrokerDriver> driver = open_broker(one);
    const std::unique_ptr<Broker> broker = value_of(driver->open());
    const Deadline deadline = SystemClock().now() + one.rules.publish_deadline;
    admin::BrokerFinding finding;
    finding.destination = one.rules.name;
    finding.broker = one.broker.masked();
    const Result<BrokerFacts> facts = broker->describe(deadline);
    finding.connected = facts.has_value();
    if (facts) {
        finding.server = facts->server;
        finding.durability = facts->durability;
        finding.risk = facts->risk;
        if (arguments.publish) publish_probe(*broker, topic, deadline, finding);
    } else {
        finding.error = facts.error().text;
    }
    return show(common, finding);
}

}  // namespace outrider::cli
