#include "brokers/redis/broker.h"

#include <algorithm>
#include <optional>

#include "outrider/brokers.h"

#include "brokers/redis/burst.h"
#include "brokers/redis/classify.h"
#include "brokers/redis/connection.h"
#include "brokers/wire/driver.h"
#include "brokers/wire/socket.h"
#include "core/clock.h"

namespace outrider {
namespace redis {
namespace {

Error unexpected(std::string_view where) {
    return Error{Remedy::call, "an unexpected reply of Redis to " + std::string(where)};
}

// "Redis said: ..." is clearer in a log than a bare word in capitals.
std::string quote(const redisReply& reply) {
    return "Redis said: " + std::string(text_of(reply));
}

class RedisBroker final : public Broker {
public:
    RedisBroker(const RedisOptions& options, wire::Target target)
        : options_(options),
          writer_(options, std::move(target)) {}

    // See Burst for why order holds.
    [[nodiscard]] BrokerTraits traits() const override {
        return {.keeps_order = true, .payload_bytes_max = payload_bytes_max_};
    }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        Burst burst(writer_, envelopes, answers);
        const Result<void> done = offer(burst, deadline);
        // Whatever is still on its way belongs to this burst: the link goes with it.
        if (!done) connection_.reset();
        burst.leave(done ? std::string_view() : std::string_view(done.error().text));
    }

    [[nodiscard]] Result<void> ping(Deadline deadline) override {
        if (Result<void> ready = connect(deadline); !ready) return ready;
        Result<void> answer = connection_->check(options_, deadline);
        if (!answer) connection_.reset();
        return answer;
    }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline deadline) override {
        if (Result<void> ready = connect(deadline); !ready) return ready.error();
        const Result<ServerInfo> info = connection_->describe(options_, deadline);
        if (!info) {
            connection_.reset();
            return info.error();
        }
        return BrokerFacts{
            "Redis " + info->version, durability_of(*info, options_), risk_of(*info)};
    }

private:
    Result<void> connect(Deadline deadline) {
        if (connection_ && !connection_->is_stale()) return {};
        connection_.reset();
        Result<Connection> opened = Connection::open(options_, deadline);
        if (!opened) return opened.error();
        connection_.emplace(std::move(opened).value());
        const std::size_t limit = connection_->value_bytes_max();
        // Where any message fits there is no limit, and the relay saves itself the look.
        payload_bytes_max_ = limit < kPayloadBytesCeiling ? limit : 0;
        return {};
    }

    Result<void> offer(Burst& burst, Deadline deadline) {
        for (std::size_t start = 0;;) {
            if (Result<void> ready = connect(deadline); !ready) return ready;
            commands_.clear();
            Transaction first = burst.plan(start, commands_, payload_bytes_max_);
            if (first.places.empty()) return {};
            const Result<std::size_t> reached = run(burst, std::move(first), deadline);
            if (!reached) return reached.error();
            start = *reached;
        }
    }

    // This transaction, whose commands are written but not sent, and the next ones until something
    // fails. While one is executed, the next waits at the server for its EXEC, which is sent when
    // nothing before it has failed. Returns where to plan anew.
    Result<std::size_t> run(Burst& burst, Transaction current, Deadline deadline) {
        while (true) {
            if (wire::millis_left(deadline) == 0) {
                return Error{Remedy::wait, "the deadline has passed"};
            }
            add_execution(deadline);
            Transaction next = burst.plan(current.end, commands_, payload_bytes_max_);
            const std::size_t failures = burst.failures();
            if (Result<void> sent = connection_->send(commands_.bytes(), deadline); !sent) {
                return sent.error();
            }
            const Result<bool> executed = take_transaction(burst, current, deadline);
            if (!executed) return executed.error();
            const bool clean = burst.failures() == failures;
            if (!*executed || !clean) discard(next, deadline);
            if (!*executed) return current.start;
            if (!clean || next.places.empty()) return current.end;
            current = std::move(next);
            commands_.clear();
        }
    }

    // Nothing of it has happened, whatever the server says.
    void discard(const Transaction& queued, Deadline deadline) {
        if (queued.places.empty() || !connection_) return;
        Commands discard;
        discard.command({"DISCARD"});
        const std::size_t replies = queued.places.size() + 2;
        bool fine = connection_->send(discard.bytes(), deadline).has_value();
        for (std::size_t i = 0; i < replies && fine; ++i) {
            fine = connection_->receive(deadline).has_value();
        }
        if (!fine) connection_.reset();
    }

    [[nodiscard]] bool waits() const { return options_.replicas > 0 || options_.fsync; }

    void add_execution(Deadline deadline) {
        commands_.command({"EXEC"});
        if (!waits()) return;
        const auto wait = std::chrono::ceil<std::chrono::milliseconds>(options_.wait).count();
        const std::string millis =
            std::to_string(std::min<std::int64_t>(wait, wire::millis_left(deadline)));
        const std::string replicas = std::to_string(options_.replicas);
        if (options_.fsync) {
            commands_.command({"WAITAOF", "1", replicas, millis});
        } else {
            commands_.command({"WAIT", replicas, millis});
        }
    }

    // The answers to a transaction, and whether it was executed. An error leaves all of it
    // unanswered.
    Result<bool> take_transaction(Burst& burst, const Transaction& transaction, Deadline deadline) {
        const Result<Reply> begun = connection_->receive(deadline);
        if (!begun) return begun.error();
        if (is_error(**begun)) return Error{Remedy::wait, quote(**begun)};
        bool queued = true;
        for (const std::size_t place : transaction.places) {
            const Result<Reply> reply = connection_->receive(deadline);
            if (!reply) return reply.error();
            if (!is_error(**reply)) continue;
            queued = false;
            const Verdict verdict = classify(text_of(**reply));
            if (verdict == Verdict::unanswered) return Error{Remedy::wait, quote(**reply)};
            burst.fail(place, verdict, quote(**reply));
            // Too large for the server, which hangs up: nothing of the transaction has happened.
            if (verdict == Verdict::unacceptable) {
                connection_.reset();
                return false;
            }
        }
        return take_execution(burst, transaction, queued, deadline);
    }

    Result<bool> take_execution(
        Burst& burst,
        const Transaction& transaction,
        bool queued,
        Deadline deadline
    ) {
        const Result<Reply> executed = connection_->receive(deadline);
        if (!executed) return executed.error();
        if (Result<void> safe = check_wait(deadline, queued); !safe) return safe.error();
        // EXECABORT: none of them happened, and those that were at fault have their answer.
        if (!queued && is_error(**executed)) return false;
        if (is_error(**executed)) return Error{Remedy::wait, quote(**executed)};
        const redisReply& replies = **executed;
        if (replies.type != REDIS_REPLY_ARRAY || replies.elements != transaction.places.size()) {
            return unexpected("EXEC");
        }
        for (std::size_t i = 0; i < transaction.places.size(); ++i) {
            const std::size_t place = transaction.places[i];
            if (Result<void> taken = take(burst, place, *replies.element[i]); !taken) {
                return taken.error();
            }
        }
        return true;
    }

    static Result<void> take(Burst& burst, std::size_t place, const redisReply& reply) {
        if (reply.type == REDIS_REPLY_STRING) {
            burst.acknowledge(place);
            return {};
        }
        if (!is_error(reply)) return unexpected("XADD");
        const Verdict verdict = classify(text_of(reply));
        if (verdict == Verdict::unanswered) return Error{Remedy::wait, quote(reply)};
        burst.fail(place, verdict, quote(reply));
        return {};
    }

    // Too few replicas, or not on disk: the entries are there, but not as safe as was asked for.
    Result<void> check_wait(Deadline deadline, bool queued) {
        if (!waits()) return {};
        const Result<Reply> reply = connection_->receive(deadline);
        if (!reply) return reply.error();
        if (!queued) return {};
        if (is_error(**reply)) return Error{Remedy::wait, quote(**reply)};
        return options_.fsync ? check_fsync(**reply) : check_replicas((*reply)->integer);
    }

    Result<void> check_fsync(const redisReply& reply) const {
        if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return unexpected("WAITAOF");
        if (reply.element[0]->integer < 1) {
            return Error{Remedy::wait, "Redis has not synced its append-only file in time"};
        }
        return check_replicas(reply.element[1]->integer);
    }

    [[nodiscard]] Result<void> check_replicas(long long count) const {
        if (count >= 0 && static_cast<std::uint64_t>(count) >= options_.replicas) return {};
        return Error{
            Remedy::wait,
            std::to_string(count) + " of " + std::to_string(options_.replicas) +
                " replicas have confirmed in time"};
    }

    const RedisOptions options_;
    Writer writer_;
    Commands commands_;
    std::optional<Connection> connection_;
    std::size_t payload_bytes_max_ = 0;
};

Result<std::unique_ptr<Broker>> open(const RedisOptions& options) {
    Result<wire::Target> target = wire::Target::parse(options.wire.target);
    if (!target) return target.error();
    return std::unique_ptr<Broker>(std::make_unique<RedisBroker>(options, std::move(target).value())
    );
}

}  // namespace
}  // namespace redis

std::shared_ptr<BrokerDriver> make_redis_broker(const RedisOptions& options) {
    return wire::make_driver([options] { return redis::open(options); });
}

std::shared_ptr<BrokerDriver> redis_broker(std::string_view url) {
    return wire::driver_of<parse_redis_url, make_redis_broker>(url);
}

}  // namespace outrider
