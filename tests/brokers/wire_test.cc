#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "brokers/support/messages.h"
#include "brokers/wire/cloud_event.h"
#include "brokers/wire/encoder.h"
#include "brokers/wire/files.h"
#include "brokers/wire/parameters.h"
#include "brokers/wire/socket.h"
#include "brokers/wire/target.h"
#include "brokers/wire/url.h"
#include "core/clock.h"
#include "support/tcp.h"
#include "support/temp_folder.h"

namespace outrider::wire {
namespace {

using live::Messages;

std::string filled_in(std::string_view text, const Envelope& envelope) {
    const Result<Target> target = Target::parse(text);
    EXPECT_TRUE(target) << text;
    std::string out;
    target->append(out, envelope);
    return out;
}

testing::Received order() {
    testing::Received message;
    message.id = *MessageId::parse("018f3c8e-1111-7aaa-8bbb-0123456789ab");
    message.topic = "orders";
    message.key = "42";
    message.type = "order.placed";
    message.content_type = "application/json";
    message.payload = R"({"a":1})";
    message.headers = {{"traceparent", "00-ab-cd-01"}, {"tenant", "7"}};
    return message;
}

std::string value_of(const Encoded& encoded, std::string_view name) {
    for (const HeaderView& header : encoded.headers) {
        if (header.name == name) return std::string(header.value);
    }
    return "(none)";
}

TEST(Target, FillsInTopicKeyAndType) {
    Messages messages;
    const Envelope& envelope = messages.add(order());
    EXPECT_EQ(filled_in("{topic}", envelope), "orders");
    EXPECT_EQ(filled_in("shop.{topic}.{key}/{type}", envelope), "shop.orders.42/order.placed");
    EXPECT_EQ(filled_in("audit", envelope), "audit");
    EXPECT_EQ(filled_in("{type}{type}", envelope), "order.placedorder.placed");
}

TEST(Target, SaysWhatIsWrongWithATemplate) {
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"", "empty"}, {"{tpic}", "{tpic}"}, {"a{topic", "without a }"}, {"{}", "{}"}}) {
        const Result<Target> target = Target::parse(text);
        ASSERT_FALSE(target) << text;
        EXPECT_NE(target.error().text.find(part), std::string::npos) << target.error().text;
    }
}

TEST(Url, ReadsEveryPart) {
    const Result<Url> url = parse_url("NATS://me:p%40s%3As@a:1,[::1]:2,c/pa%2Fth?x=1&y=%26&z");
    ASSERT_TRUE(url) << url.error().text;
    EXPECT_EQ(url->scheme, "nats");
    EXPECT_EQ(url->user, "me");
    EXPECT_EQ(url->password, "p@s:s");
    ASSERT_EQ(url->endpoints.size(), 3U);
    EXPECT_EQ(to_string(url->endpoints[0]), "a:1");
    EXPECT_EQ(to_string(url->endpoints[1]), "[::1]:2");
    EXPECT_EQ(url->endpoints[2].port, 0);
    EXPECT_EQ(url->path, "pa/th");
    ASSERT_EQ(url->parameters.size(), 3U);
    EXPECT_EQ(url->parameters[1].value, "&");
}

TEST(Url, QuotesNothingThatMayBeSecret) {
    for (const char* text :
         {"me:geheim@host",
          "redis://me:geheim@host:0",
          "redis://me:geheim@",
          "redis://:geheim",
          "redis://[geheim",
          "redis://[a]geheim:1"}) {
        const Result<Url> url = parse_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().text.find("geheim"), std::string::npos) << url.error().text;
    }
}

TEST(Url, TakesASecretOutOfAText) {
    EXPECT_EQ(without_secret("AUTH geheim: geheim?", "geheim"), "AUTH ***: ***?");
    EXPECT_EQ(without_secret("nothing", ""), "nothing");
    EXPECT_EQ(without_secret("******** a", "******"), "***** a");
}

TEST(Url, DoesNotGarbleATextByAShortSecret) {
    const std::string text = "invalid username-password pair";
    for (const char* secret : {"p", "pass", "word-"}) {
        const bool is_there = text.find(secret) != std::string::npos;
        const std::string shown = without_secret(text, secret);
        EXPECT_EQ(shown.find("***"), std::string::npos) << shown;
        EXPECT_EQ(shown == text, !is_there) << shown;
        EXPECT_EQ(shown.find("is not shown") != std::string::npos, is_there) << shown;
    }
}

TEST(Files, AreNamedUntilTheyAreThere) {
    const TempFolder folder;
    const Tls tls{.tls = true, .tls_ca = folder.file("ca.pem")};
    const Result<void> missing = check_files(tls);
    ASSERT_FALSE(missing);
    EXPECT_EQ(
        missing.error().text, "cannot read tls_ca " + tls.tls_ca + ": No such file or directory"
    );
    EXPECT_EQ(missing.error().remedy, Remedy::wait);
    std::ofstream(tls.tls_ca) << "late";
    EXPECT_TRUE(check_files(tls));
    EXPECT_TRUE(check_files({}));
}

TEST(Parameters, ReadsEveryKind) {
    Parameters parameters(
        {{"n", "12"}, {"d", "250ms"}, {"f", "true"}, {"format", "cloudevents-structured"}}
    );
    std::uint64_t number = 0;
    Duration duration{};
    bool flag = false;
    Options options;
    parameters.number("n", number);
    parameters.duration("d", duration);
    parameters.flag("f", flag);
    parameters.wire(options);
    EXPECT_TRUE(parameters.finish());
    EXPECT_EQ(number, 12U);
    EXPECT_EQ(duration, std::chrono::milliseconds(250));
    EXPECT_TRUE(flag);
    EXPECT_EQ(options.format, Format::cloudevents_structured);
}

TEST(Parameters, LeavesTheFormOfMessagesToWhereItIsSaid) {
    const auto complaint = [](const std::string& name, bool are_in_url) {
        Parameters parameters({{name, "5"}});
        std::uint64_t number = 0;
        Options options{.are_in_url = are_in_url};
        parameters.number("maxlen", number);
        parameters.wire(options);
        const Result<void> result = parameters.finish();
        return result ? std::string("fine") : result.error().text;
    };
    EXPECT_EQ(complaint("target", true), "fine");
    EXPECT_EQ(
        complaint("target", false), "write target as a key of the destination, not into the URL"
    );
    EXPECT_EQ(
        complaint("maxlne", true),
        "unknown parameter maxlne: expected one of maxlen target format source; did you mean "
        "'maxlen'?"
    );
    EXPECT_EQ(
        complaint("maxlne", false),
        "unknown parameter maxlne: expected one of maxlen; did you mean 'maxlen'?"
    );
}

TEST(Parameters, NamesTheOneThatIsWrong) {
    const auto complaint = [](Parameter parameter) {
        Parameters parameters({std::move(parameter)});
        std::uint64_t number = 0;
        Duration duration{};
        Options options;
        parameters.number("n", number);
        parameters.duration("d", duration);
        parameters.wire(options);
        const Result<void> result = parameters.finish();
        return result ? std::string("fine") : result.error().text;
    };
    EXPECT_EQ(complaint({"n", "12"}), "fine");
    EXPECT_EQ(complaint({"n", "-1"}), "the parameter n takes a whole number");
    EXPECT_NE(complaint({"d", "5"}).find("duration"), std::string::npos);
    EXPECT_NE(complaint({"d", "99999999999m"}).find("duration"), std::string::npos);
    EXPECT_NE(complaint({"format", "xml"}).find("cloudevents-binary"), std::string::npos);
    EXPECT_NE(complaint({"source", ""}).find("URI"), std::string::npos);
    EXPECT_NE(complaint({"tagret", "x"}).find("expected one of n d target"), std::string::npos);
}

TEST(Encoder, WritesOurFieldsBesideTheHeaders) {
    Messages messages;
    Encoder encoder({}, {.attribute_prefix = "ce_"});
    const Encoded encoded = encoder.encode(messages.add(order()));
    EXPECT_EQ(value_of(encoded, "outrider-id"), "018f3c8e-1111-7aaa-8bbb-0123456789ab");
    EXPECT_EQ(value_of(encoded, "outrider-topic"), "orders");
    EXPECT_EQ(value_of(encoded, "outrider-key"), "42");
    EXPECT_EQ(value_of(encoded, "outrider-type"), "order.placed");
    EXPECT_EQ(value_of(encoded, "outrider-occurred-at"), "2023-11-14T22:13:20.123Z");
    EXPECT_EQ(value_of(encoded, "traceparent"), "00-ab-cd-01");
    EXPECT_EQ(value_of(encoded, "tenant"), "7");
    EXPECT_EQ(encoded.content_type, "application/json");
    EXPECT_EQ(encoded.payload, R"({"a":1})");
}

TEST(Encoder, LeavesOutHeadersThatWouldBeTakenForOurs) {
    testing::Received message = order();
    message.headers = {{"Outrider-Id", "forged"}, {"Content-Type", "text/plain"}, {"x", "y"}};
    Messages messages;
    Encoder encoder({}, {});
    EXPECT_EQ(encoder.encode(messages.add(message)).headers.size(), 5U + 1U);
    message.content_type.clear();
    EXPECT_EQ(encoder.encode(messages.add(message)).content_type, "text/plain");
}

TEST(Encoder, WritesCloudEventsAttributes) {
    Messages messages;
    Encoder encoder({.format = Format::cloudevents_binary, .source = "/shop"}, {"ce-", true});
    testing::Received message = order();
    message.key = "a b%ü";
    const Encoded encoded = encoder.encode(messages.add(message));
    EXPECT_EQ(value_of(encoded, "ce-specversion"), "1.0");
    EXPECT_EQ(value_of(encoded, "ce-id"), "018f3c8e-1111-7aaa-8bbb-0123456789ab");
    EXPECT_EQ(value_of(encoded, "ce-source"), "/shop");
    EXPECT_EQ(value_of(encoded, "ce-type"), "order.placed");
    EXPECT_EQ(value_of(encoded, "ce-time"), "2023-11-14T22:13:20.123Z");
    EXPECT_EQ(value_of(encoded, "ce-partitionkey"), "a%20b%25%C3%BC");
    EXPECT_EQ(value_of(encoded, "ce-traceparent"), "00-ab-cd-01");
    EXPECT_EQ(value_of(encoded, "traceparent"), "00-ab-cd-01");
    EXPECT_EQ(value_of(encoded, "outrider-id"), "(none)");
    EXPECT_EQ(encoded.payload, R"({"a":1})");
}

TEST(Encoder, WritesACloudEventAsOneObject) {
    Messages messages;
    Encoder encoder({.format = Format::cloudevents_structured}, {});
    const Encoded encoded = encoder.encode(messages.add(order()));
    EXPECT_EQ(encoded.content_type, "application/cloudevents+json");
    const auto event = nlohmann::json::parse(encoded.payload);
    EXPECT_EQ(event.at("specversion"), "1.0");
    EXPECT_EQ(event.at("source"), "/outrider");
    EXPECT_EQ(event.at("type"), "order.placed");
    EXPECT_EQ(event.at("partitionkey"), "42");
    EXPECT_EQ(event.at("traceparent"), "00-ab-cd-01");
    EXPECT_EQ(event.at("datacontenttype"), "application/json");
    EXPECT_EQ(event.at("data").at("a"), 1);
}

TEST(CloudEvent, CarriesAnyData) {
    const auto event_of = [](std::string content_type, std::string payload) {
        testing::Received message = order();
        message.content_type = std::move(content_type);
        message.payload = std::move(payload);
        Messages messages;
        std::string text;
        append_cloud_event(text, messages.add(message), "/s");
        return nlohmann::json::parse(text);
    };
    EXPECT_EQ(event_of("application/x+json; charset=utf-8", "[1]").at("data"), "[1]"_json);
    EXPECT_EQ(event_of("application/json", "{oops").at("data_base64"), "e29vcHM=");
    // JSON to a lenient reader, but not in the middle of other JSON.
    const std::string marked = "\xef\xbb\xbf{\"a\":1}";
    EXPECT_EQ(event_of("application/json", marked).at("data_base64"), "77u/eyJhIjoxfQ==");
    const std::string ended("{\"a\":1}\0", 8);
    EXPECT_EQ(event_of("application/json", ended).at("data_base64"), "eyJhIjoxfQA=");
    const std::string trailed("{\"a\":1}\0}", 9);
    EXPECT_EQ(event_of("application/json", trailed).at("data_base64"), "eyJhIjoxfQB9");
    EXPECT_EQ(event_of("text/plain", "a\"b").at("data"), "a\"b");
    EXPECT_EQ(event_of("text/plain", "\xff").at("data_base64"), "/w==");
    EXPECT_EQ(event_of("", "abc").at("data_base64"), "YWJj");
    EXPECT_FALSE(event_of("text/plain", "").contains("data"));
}

// A listener that nobody accepts at: its kernel takes one connection, and is silent to the next.
class Listener {
public:
    Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        auto* const place = reinterpret_cast<sockaddr*>(&place_);
        socklen_t size = sizeof place_;
        EXPECT_EQ(::bind(socket_.get(), place, size), 0);
        EXPECT_EQ(::listen(socket_.get(), 0), 0);
        EXPECT_EQ(::getsockname(socket_.get(), place, &size), 0);
    }

    void fall_silent() { first_ = live::connect_to(ntohs(place_.sin_port)); }

    [[nodiscard]] addrinfo address() {
        addrinfo address{};
        address.ai_family = AF_INET;
        address.ai_addr = reinterpret_cast<sockaddr*>(&place_);
        address.ai_addrlen = sizeof place_;
        return address;
    }

private:
    sockaddr_in place_ = live::loopback(0);
    Descriptor socket_;
    Descriptor first_;
};

TEST(Dial, LeavesTimeForTheAddressesBehindASilentOne) {
    Listener silent;
    silent.fall_silent();
    Listener good;
    addrinfo last = good.address();
    addrinfo first = silent.address();
    const auto dial_within = [&](Duration patience) {
        return dial(first, "two.example", SystemClock().now() + patience);
    };
    const Result<Descriptor> nobody = dial_within(std::chrono::milliseconds(100));
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().text, "cannot connect to two.example: Connection timed out");
    first.ai_next = &last;
    const Result<Descriptor> socket = dial_within(std::chrono::seconds(1));
    EXPECT_TRUE(socket) << socket.error().text;
}

}  // namespace
}  // namespace outrider::wire
