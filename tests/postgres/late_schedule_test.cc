#include <optional>

#include "core/dice.h"
#include "postgres/late_floor.h"
#include "support/environment.h"

// One step after the other, drawn by lot: writers begin, write, commit and roll back; readers claim
// a few messages, keep them for a while, settle some of them or give them back; segments are left
// and emptied. Numbers lie far apart, so that every limit on numbers is met with few messages.

namespace outrider::late {
namespace {

struct Writer {
    explicit Writer(const PostgresLog& log) : session(log.conninfo) {}

    PostgresSession session;
    bool open = false;
    Payloads written;  // by the transaction that is open
    std::map<std::string, int> places;
    std::map<std::string, int> committed;
};

struct Reader {
    std::unique_ptr<Store> store;
    std::optional<Batch> held;
};

class Schedule {
public:
    Schedule(std::uint64_t seed, Order order)
        : log_(4, short_cut::quiet_server()),
          session_(log_.conninfo),
          dice_(seed),
          order_(order) {
        session_.run("alter sequence outrider.seq increment 97");
        for (int i = 0; i < 4; ++i) writers_.push_back(std::make_unique<Writer>(log_));
        readers_.resize(3);
        for (Reader& reader : readers_) reopen(reader);
    }

    void run(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i) step();
        for (const auto& writer : writers_) end(*writer);
        for (Reader& reader : readers_) settle(reader, false);
        for (const std::size_t messages : {2U, 100U}) {
            add(delivered_, drain(*readers_[0].store, messages).payloads);
        }
        expect_floors(session_);
        expect_order(delivered_);
        std::sort(committed_.begin(), committed_.end());
        std::sort(delivered_.begin(), delivered_.end());
        EXPECT_EQ(committed_, delivered_);
        EXPECT_GT(committed_.size(), steps / 10);
        EXPECT_EQ(pending(log_), 0U);
        EXPECT_EQ(
            session_.value("select sum(delivered) from outrider.cursor"),
            std::to_string(delivered_.size())
        );
    }

private:
    void step() {
        const std::uint64_t lot = dice_.pick(100);
        if (lot < 50) return write_some(dice_.pick(writers_.size()));
        if (lot < 98) return read_some(readers_[dice_.pick(readers_.size())]);
        if (lot == 98) return reopen(readers_[dice_.pick(readers_.size())]);
        // A turn keeps segments from being emptied, and there is only one thread.
        for (Reader& reader : readers_) settle(reader, true);
        expect_floors(session_);
        clean_up(log_, session_);
        EXPECT_LE(std::stoi(session_.value("select count(*) from outrider.progress")), 4);
    }

    // The last writers have long transactions.
    void write_some(std::size_t number) {
        Writer& writer = *writers_[number];
        if (!writer.open) {
            writer.session.run("begin");
            writer.open = true;
            writer.places = writer.committed;
        }
        for (std::uint64_t i = dice_.pick(4); i > 0; --i) {
            const std::string key =
                "w" + std::to_string(number) + "k" + std::to_string(dice_.pick(5));
            const int place = ++writer.places[key];
            write(writer.session, key, place);
            writer.written.push_back(key + " " + std::to_string(place));
        }
        if (dice_.pick(2 + 4 * number * number) == 0) end(writer);
    }

    void end(Writer& writer) {
        if (!writer.open) return;
        const bool stays = dice_.chance(0.8);
        writer.session.run(stays ? "commit" : "rollback");
        if (stays) writer.committed = writer.places;
        if (stays) add(committed_, writer.written);
        writer.written.clear();
        writer.open = false;
    }

    void reopen(Reader& reader) {
        reader.held.reset();
        Destination destination = everything();
        destination.order = order_;
        destination.workers = 1 + dice_.pick(3);
        reader.store = log_.open(destination);
    }

    void read_some(Reader& reader) {
        if (reader.held) return settle(reader, true);
        Result<Batch> batch = reader.store->claim({1 + dice_.pick(6), 1U << 20U});
        ASSERT_TRUE(batch) << batch.error().text;
        if (batch->hold) reader.held = std::move(batch).value();
        if (dice_.chance(0.7)) settle(reader, true);
    }

    void settle(Reader& reader, bool may_leave) {
        if (!reader.held) return;
        Batch batch = std::move(*reader.held);
        reader.held.reset();
        if (may_leave && dice_.pick(20) == 0) return;  // given back
        std::vector<Settlement> settlements(batch.envelopes.size());
        std::map<std::uint32_t, bool> stopped;
        for (std::size_t i = 0; i < settlements.size(); ++i) {
            const Envelope& envelope = batch.envelopes[i];
            bool& stops = stopped[envelope.lane];
            stops = stops || (may_leave && dice_.pick(12) == 0);
            if (stops) continue;
            settlements[i].fate = Fate::done;
            delivered_.emplace_back(envelope.payload);
        }
        const Result<void> settled = reader.store->settle(std::move(batch), settlements);
        ASSERT_TRUE(settled) << settled.error().text;
    }

    PostgresLog log_;
    PostgresSession session_;
    SeededDice dice_;
    const Order order_;
    std::vector<std::unique_ptr<Writer>> writers_;
    std::vector<Reader> readers_;
    Payloads committed_;
    Payloads delivered_;
};

TEST(PostgresLateSchedule, AnyOrderOfStepsLosesNothing) {
    const auto first = static_cast<std::uint64_t>(number_from("SCHEDULE_SEED", 1));
    const auto count = static_cast<std::uint64_t>(number_from("SCHEDULES", 6));
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Schedule(seed, seed % 3 == 0 ? Order::global : Order::key).run(600);
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace outrider::late
