// Values that break whoever pastes them into a statement, by each way in, on every way
// that a message can take through the tables.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "outrider/error.h"
#include "outrider/postgres.h"

#include "core/clock.h"
#include "core/decide.h"
#include "core/hash.h"
#include "postgres/log.h"

namespace outrider {
namespace {

using std::string_literals::operator""s;

constexpr std::size_t kPayloadMax = 1U << 20U;

// What a consumer sees of a message.
struct Arrival {
    std::string topic;
    std::string key;
    std::string payload;
    bool operator==(const Arrival&) const = default;
};
using Arrivals = std::map<MessageId, Arrival>;

std::string many(std::string_view text, std::size_t times) {
    std::string result;
    while (times-- > 0) result += text;
    return result;
}

std::vector<std::string> hostile_texts() {
    return {
        "'",
        "''; drop table x; --",
        "\"",
        "\\",
        "\\'",
        "\\x41",
        "\\\\000",
        "%",
        "_",
        "a%_\\%",
        "{}",
        "{schema}",
        "{\"a\",NULL}",
        "NULL",
        "$1",
        "$$",
        "$body$",
        "|",
        "a|b|true",
        "\t\r\n",
        " ",
        "\xF0\x9F\xA6\x84",
        "e\xCC\x81\xE2\x80\xAE",
        "\x01\x1f\x7f",
    };
}

std::string all_bytes() {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    return bytes;
}

std::vector<Message> hostile_messages() {
    std::vector<Message> messages;
    const auto add = [&messages](std::string topic, std::string key, std::string payload) {
        Message message;
        message.id = MessageId::generate();
        message.topic = std::move(topic);
        message.key = std::move(key);
        message.payload = std::move(payload);
        messages.push_back(std::move(message));
    };
    for (const std::string& text : hostile_texts()) add(text, text, text);
    for (const std::string& bytes :
         {""s, "\0"s, "\0\0a\0"s, "\xff\xfe"s, "\xC3"s, "\xED\xA0\x80"s, "\\x"s, all_bytes()}) {
        add("t", "bytes", bytes);
    }
    add(many("\xF0\x9F\xA6\x84", 63) + "abc", many("\xF0\x9F\xA6\x84", 256), "longest names");
    add("t", "limit", std::string(kPayloadMax, '\0'));
    return messages;
}

Arrivals expected(const std::vector<Message>& messages) {
    Arrivals arrivals;
    for (const Message& m : messages) arrivals[*m.id] = {m.topic, m.key, m.payload};
    return arrivals;
}

std::string literal(const PostgresSession& session, const std::string& text) {
    char* escaped = PQescapeLiteral(session.get(), text.data(), text.size());
    std::string result = escaped;
    PQfreemem(escaped);
    return result;
}

std::string hex(const std::string& bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text = "'\\x";
    for (const char c : bytes) {
        text += kDigits[static_cast<unsigned char>(c) >> 4U];
        text += kDigits[static_cast<unsigned char>(c) & 15U];
    }
    return text + "'";
}

// The four values as an application in another language would write them.
std::string values(const PostgresSession& session, const Message& m) {
    return "id => '" + m.id->to_string() + "', topic => " + literal(session, m.topic) +
           ", key => " + literal(session, m.key) + ", payload => " + hex(m.payload) + "::bytea";
}

std::string plain_insert(const PostgresSession& session, const Message& m) {
    return "insert into outrider.message (id, topic, key, payload) values ('" + m.id->to_string() +
           "', " + literal(session, m.topic) + ", " + literal(session, m.key) + ", " +
           hex(m.payload) + ")";
}

// A log, and somebody who claims from it until nothing is left, giving everything the same fate.
class PostgresHostile : public ::testing::Test {
protected:
    Arrivals arrive(Store& store, Fate fate = Fate::done) const {
        Arrivals arrivals;
        for (int quiet = 0; quiet < 3;) {
            Result<Batch> batch = store.claim({100, 8U << 20U});
            if (!batch) throw std::runtime_error(batch.error().text);
            std::vector<Settlement> settlements;
            for (const Envelope& e : batch->envelopes) {
                arrivals[e.id] = {std::string(e.topic), std::string(e.key), std::string(e.payload)};
                settlements.push_back(settlement(e, fate));
            }
            quiet = batch->envelopes.empty() ? quiet + 1 : 0;
            if (!batch->hold) continue;
            const Result<void> settled = store.settle(std::move(batch).value(), settlements);
            if (!settled) throw std::runtime_error(settled.error().text);
        }
        return arrivals;
    }

    static Settlement settlement(const Envelope& envelope, Fate fate) {
        Settlement settlement;
        settlement.fate = fate;
        settlement.attempts = 1;
        settlement.park_key = own_order_key(envelope.seq);
        settlement.due_at = WallTime::max();
        settlement.reason = "no: '\"\\{schema}%_";
        return settlement;
    }

    PostgresLog log;
    PostgresSession session{log.conninfo};
};

TEST_F(PostgresHostile, ValuesArriveByteForByteFromEnqueue) {
    const std::vector<Message> messages = hostile_messages();
    session.run("begin");
    for (const Message& message : messages) postgres::enqueue(session.get(), message);
    session.run("commit");
    EXPECT_EQ(arrive(*log.open(everything())), expected(messages));
}

TEST_F(PostgresHostile, ValuesArriveByteForByteFromAPlainInsert) {
    const std::vector<Message> messages = hostile_messages();
    for (const Message& message : messages) session.run(plain_insert(session, message));
    EXPECT_EQ(arrive(*log.open(everything())), expected(messages));
}

TEST_F(PostgresHostile, ValuesArriveByteForByteFromTheFunction) {
    const std::vector<Message> messages = hostile_messages();
    for (const Message& message : messages) {
        session.run("select outrider.enqueue(" + values(session, message) + ")");
    }
    EXPECT_EQ(arrive(*log.open(everything())), expected(messages));
}

// Parked, back again, dead, replayed: each step writes the message into another table.
TEST_F(PostgresHostile, ValuesSurviveParkingAndDeath) {
    const std::vector<Message> messages = hostile_messages();
    session.run("begin");
    postgres::enqueue(session.get(), messages);
    session.run("commit");
    const auto store = log.open(everything());
    EXPECT_EQ(arrive(*store, Fate::again), expected(messages));
    session.run("update outrider.parked set due_at = now() - interval '1 hour'");
    session.run("update outrider.parked_key set due_at = now() - interval '1 hour'");
    EXPECT_EQ(arrive(*store, Fate::dead), expected(messages));
    for (const Message& message : messages) {
        const auto letters = log.admin()->dead_letter(*message.id);
        ASSERT_TRUE(letters) << letters.error().text;
        ASSERT_EQ(letters->size(), 1U);
        EXPECT_EQ(letters->front().payload, message.payload);
        EXPECT_EQ(letters->front().error, "no: '\"\\{schema}%_");
    }
    EXPECT_EQ(*log.admin()->replay_dead({}), messages.size());
    EXPECT_EQ(arrive(*store), expected(messages));
}

// A topic is a pattern for LIKE on its way to the server; what is special there is not special
// here.
TEST_F(PostgresHostile, ADestinationTakesItsHostileTopicAndNoOther) {
    for (const std::string& topic : hostile_texts()) {
        for (const std::string& other : {topic, "x" + topic, topic + "x", "axb"s, "A"s}) {
            session.run(
                "select outrider.enqueue(topic => " + literal(session, other) +
                ", payload => 'x'::text)"
            );
        }
        Destination destination = everything("takes " + hex(topic));
        destination.topics = {topic};
        const Arrivals arrivals = arrive(*log.open(destination));
        EXPECT_GE(arrivals.size(), 1U) << topic;
        for (const auto& [id, arrival] : arrivals) {
            EXPECT_EQ(arrival.topic, topic);
            EXPECT_EQ(arrival.payload, "x") << "left out by the server, taken by us";
        }
    }
}

TEST(PostgresEncoding, AReasonThatTheDatabaseCannotHoldHoldsUpNothing) {
    PostgresServer& server = PostgresServer::shared();
    PostgresSession(server.conninfo("postgres"))
        .run("create database western encoding 'LATIN1' template template0 locale 'C'");
    PostgresLog log;
    log.options.conninfo = server.conninfo("western");
    ASSERT_TRUE(log.admin()->migrate());
    const PostgresSession session(log.options.conninfo);
    insert(session, "k", "1");
    const auto store = log.open(everything());
    Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->envelopes.size(), 1U);
    Settlement dead;
    dead.fate = Fate::dead;
    dead.park_key = batch->envelopes[0].order_key;
    dead.reason = "paid 5 \u20ac";
    ASSERT_TRUE(store->settle(std::move(batch).value(), std::vector{dead}));
    EXPECT_EQ(session.value("select error from outrider.dead"), "paid 5 ???");
    EXPECT_TRUE(log.admin()->note_circuit("all", CircuitState::open, "5 \u20ac"));
}

TEST(PostgresEncoding, TheEncodingOfTheConnectionStringIsNotThatOfTheMessages) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    insert(session, "caf\u00e9", "1");
    insert(session, "5 \u20ac", "2");
    const PostgresLog western(log, log.conninfo + " client_encoding=LATIN1");
    const auto store = western.open(everything());
    const Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch) << batch.error().text;
    std::set<std::string_view> keys;
    for (const Envelope& envelope : batch->envelopes) keys.insert(envelope.key);
    EXPECT_EQ(keys, (std::set<std::string_view>{"caf\u00e9", "5 \u20ac"}));
}

// A setting for clients of the previous century: NULL in an array is a text like any other.
TEST_F(PostgresHostile, ArraysWithoutNullsChangeNothing) {
    session.run(
        "do $$begin execute format('alter database %I set array_nulls = off', "
        "current_database()); end$$"
    );
    const PostgresSession writer(log.conninfo);
    Message plain = message("plain");
    plain.key.clear();
    Message late = message("late");
    late.deliver_after = SystemClock().wall() + std::chrono::hours(1);
    writer.run("begin");
    enqueue(writer.get(), std::vector{plain, late});
    writer.run("commit");
    EXPECT_EQ(
        session.value("select count(*) from outrider.message where key is null or key = 'k'"), "2"
    );
    const auto store = log.open(everything());
    Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch) << batch.error().text;
    ASSERT_EQ(batch->envelopes.size(), 2U);
    std::vector<Settlement> settlements(2);
    for (std::size_t i = 0; i < 2; ++i) {
        const Envelope& envelope = batch->envelopes[i];
        settlements[i] = wait_until(envelope, envelope.deliver_after.value_or(batch->now));
    }
    const Result<void> settled = store->settle(std::move(batch).value(), settlements);
    EXPECT_TRUE(settled) << settled.error().text;
    EXPECT_EQ(session.value("select count(*) from outrider.parked"), "2");
}

TEST(PostgresEncoding, AKeyThatIsNoTextIsItsMessagesOwnFlaw) {
    PostgresServer& server = PostgresServer::shared();
    PostgresSession(server.conninfo("postgres"))
        .run("create database unchecked encoding 'SQL_ASCII' template template0 locale 'C'");
    PostgresLog log(1);
    log.options.conninfo = server.conninfo("unchecked");
    ASSERT_TRUE(log.admin()->migrate());
    const PostgresSession session(log.options.conninfo);
    insert(session, "caf\xe9", "flawed");
    insert(session, "caf\u00e9", "good");
    const auto store = log.open(everything());
    Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch) << batch.error().text;
    ASSERT_EQ(batch->envelopes.size(), 2U);
    EXPECT_EQ(batch->envelopes[0].flaw, "topic, key, type or content type is not valid UTF-8");
    EXPECT_EQ(batch->envelopes[1].flaw, "");
    EXPECT_EQ(batch->envelopes[1].key, "caf\u00e9");
    Settlement dead;
    dead.fate = Fate::dead;
    dead.park_key = batch->envelopes[0].order_key;
    Settlement done;
    done.fate = Fate::done;
    ASSERT_TRUE(store->settle(std::move(batch).value(), std::vector{dead, done}));
    const Result<std::vector<DeadLetter>> letters = log.admin()->dead_letters({});
    ASSERT_TRUE(letters) << letters.error().text;
    EXPECT_EQ(letters->at(0).key, "caf\xe9");
}

// Whoever may create functions must not have them run by operators.
TEST(PostgresFunctions, NobodysFunctionsButTheServersOwnAreCalled) {
    const PostgresLog log;
    const PostgresSession session(log.conninfo);
    const std::string fails = " language plpgsql as $$ begin raise exception 'called'; end $$";
    session.run("create function public.hashtextextended(text, integer) returns bigint" + fails);
    session.run("create function public.pg_relation_size(text) returns bigint" + fails);
    insert(session, "k", "1");
    const auto store = log.open(everything());
    EXPECT_EQ(take_all(*store), std::vector<std::string>{"1"});
    const auto admin = log.admin();
    const auto backlog = admin->backlog({});
    EXPECT_TRUE(backlog) << backlog.error().text;
    const auto cleaned = admin->clean_up(Duration::zero(), 100);
    EXPECT_TRUE(cleaned) << cleaned.error().text;
    ReplayFilter all;
    all.destination = "all";
    all.from_seq = 0;
    const auto replayed = admin->replay(all, true);
    ASSERT_TRUE(replayed) << replayed.error().text;
    EXPECT_EQ(*replayed, 1U);
}

TEST_F(PostgresHostile, WhatIsOverALimitIsToldBeforeTheDatabaseSeesIt) {
    const std::string text = many("\xF0\x9F\xA6\x84", 256);
    Message good = hostile_messages().front();
    Message payload = good;
    payload.payload = std::string(kPayloadMax + 1, 'x');
    Message key = good;
    key.key = text + "x";
    Message topic = good;
    topic.topic = std::string(256, 't');
    Message broken = good;
    broken.topic = "\xff";
    Message nul = good;
    nul.key = "a\0b"s;
    Message never = good;
    never.deliver_after = WallTime::max();
    session.run("begin");
    for (const Message& bad : {payload, key, topic, broken, nul, never}) {
        EXPECT_THROW(postgres::enqueue(session.get(), bad), Failure);
        EXPECT_EQ(PQtransactionStatus(session.get()), PQTRANS_INTRANS);
    }
    postgres::enqueue(session.get(), good);
    session.run("commit");
    EXPECT_EQ(arrive(*log.open(everything())), expected({good}));
}

// Those who do not come through us are told by the server, which says what is wrong.
TEST_F(PostgresHostile, WhatIsOverALimitIsRefusedByTheServerAsWell) {
    const std::string insert = "insert into outrider.message (topic, key, payload) values ";
    const std::string call = "select outrider.enqueue(topic => 't', key => ";
    const std::map<std::string, std::string> refused = {
        {"insert into outrider.message (topic, payload, headers) values ('t', '', "
         "jsonb_build_object('h', repeat('x', 3000000)))",
         "headers must be a JSON object of at most 2 MiB"},
        {"insert into outrider.message (topic, payload, headers) select 't', '', "
         "jsonb_object_agg(i::text, '1e131000'::numeric) from generate_series(1, 30) i",
         "headers must be a JSON object of at most 2 MiB"},
        {call + "'k', payload => ''::bytea, headers => '[1]')", "headers must be a JSON object"},
        {call + "repeat('k', 1025), payload => ''::bytea)", "key has 1025 bytes"},
        {call + "'k', payload => convert_to(repeat('x', 67108865), 'UTF8'))",
         "payload has 67108865 bytes"},
    };
    for (const auto& [sql, reason] : refused) {
        EXPECT_NE(
            failure_text([&, &sql = sql] { session.run(sql); }).find(reason), std::string::npos
        ) << sql;
    }
    session.run(insert + "('t', 'k', convert_to(repeat('x', 67108864), 'UTF8'))");
    const Arrivals arrivals = arrive(*log.open(everything()));
    ASSERT_EQ(arrivals.size(), 1U);
    EXPECT_TRUE(arrivals.begin()->second.payload == std::string(64U << 20U, 'x'));
}

// A writer with an INSERT of its own pays for no look at the topic and the key: what nobody could
// deliver is found by the relay, goes no further, and stops nothing else.
TEST_F(PostgresHostile, ATopicOrKeyOverItsLimitIsAFlawAndIsNotSentWhole) {
    session.run(
        "insert into outrider.message (topic, key, payload) values "
        "(repeat('t', 256), 'k', '1'), (repeat('t', 200000000), 'k', '2'), "
        "('t', repeat('k', 1025), '3'), ('t', repeat('k', 200000000), '4'), ('', 'k', '5'), "
        "(repeat('t', 255), repeat('k', 1024), 'sound')"
    );
    const auto store = log.open(everything());
    const Result<Batch> batch = store->claim({10, 1000});
    ASSERT_TRUE(batch) << batch.error().text;
    std::map<std::string, std::string> flaws;
    for (const Envelope& envelope : batch->envelopes) {
        EXPECT_LE(envelope.topic.size() + envelope.key.size(), 1300U);
        flaws[std::string(envelope.payload)] = envelope.flaw;
    }
    const std::map<std::string, std::string> said = {
        {"1", "the topic has more than 255 bytes"},
        {"2", "the topic has more than 255 bytes"},
        {"3", "the key has more than 1024 bytes"},
        {"4", "the key has more than 1024 bytes"},
        {"5", "the message has no topic"},
        {"sound", ""},
    };
    EXPECT_EQ(flaws, said);
}

// Nor at the payload: it is buried where it lies, and found too large again if it is replayed.
TEST_F(PostgresHostile, APayloadOverItsLimitIsAFlawAndIsNotSentWhole) {
    session.run(
        "insert into outrider.message (topic, key, payload) values "
        "('t', 'k', convert_to(repeat('x', 300000000), 'UTF8')), ('t', 'k', 'sound')"
    );
    const auto store = log.open(everything());
    for (const bool is_parked : {false, true}) {
        Result<Batch> batch = store->claim({10, 8U << 20U});
        ASSERT_TRUE(batch) << batch.error().text;
        ASSERT_EQ(batch->envelopes.size(), 1U);
        EXPECT_EQ(batch->envelopes[0].parked, is_parked);
        EXPECT_EQ(batch->envelopes[0].flaw, "the payload has more than 64 MiB");
        EXPECT_EQ(batch->envelopes[0].payload.size(), (64U << 20U) + 1);
        const std::vector<Settlement> buried = {settlement(batch->envelopes[0], Fate::dead)};
        ASSERT_TRUE(store->settle(std::move(batch).value(), buried));
        if (is_parked) break;
        EXPECT_EQ(take_all(*store), std::vector<std::string>{"sound"});
        EXPECT_EQ(*log.admin()->replay_dead({}), 1U);
    }
    EXPECT_EQ(session.value("select octet_length(payload) from outrider.dead"), "300000000");
}

}  // namespace
}  // namespace outrider
