#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "brokers/kafka/options.h"
#include "brokers/kafka/producer.h"
#include "brokers/kafka/spread.h"
#include "brokers/wire/encoder.h"
#include "core/batch.h"

namespace outrider::kafka {

// A topic as one client knows it.
struct Topic {
    using Handle =
        std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_t, rd_kafka_topic_destroy>>;

    Handle handle;
    std::int32_t partition_count = 0;
    MonoTime asked_at;

    // The broker that leads each partition; below 0: none.
    std::vector<std::int32_t> leaders;

    // When each partition last acknowledged something of this client; see Burst for why.
    std::vector<MonoTime> acknowledged_at;

    Spread spread;

    [[nodiscard]] bool has_leader(std::int32_t partition) const {
        const auto place = static_cast<std::size_t>(partition);
        return place < leaders.size() && leaders[place] >= 0;
    }
    [[nodiscard]] bool lacks_leaders() const;
};

// A producer of librdkafka with threads and connections of its own. Everything it has to say comes
// through poll(). The destructor ends it: what was not acknowledged by then is not sent any more.
// One thread at a time.
class Client {
public:
    // Connects in the background. Error: the options do not fit, e.g. a file that is not there.
    // Batches of several messages have at most `batch_bytes`. `deadline`: that of the first burst,
    // by which its silence_max is reckoned.
    [[nodiscard]] static Result<std::unique_ptr<Client>> open(
        const KafkaOptions& options,
        Mode mode,
        std::size_t batch_bytes,
        Deadline deadline
    );
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // Waits until a broker answers. Error: none does, and why.
    [[nodiscard]] Result<void> connect(Deadline deadline);

    // The topic, asked for at the cluster when it is not known or was last asked for long ago.
    // Lives as long as the client. Null: the cluster refuses it, and `refusal` says why. Where
    // brokers create topics when first asked, it takes them a moment, for which this waits until
    // `patience` at most.
    [[nodiscard]] Result<Topic*> topic(
        const std::string& name,
        Deadline deadline,
        Deadline patience,
        std::string& refusal
    );

    // Asks who leads the partitions of a topic that is known. Whether that one has a leader; true
    // where nobody can say.
    [[nodiscard]] bool has_leader(
        const std::string& name,
        std::int32_t partition,
        Deadline deadline
    );

    // It is to be asked for again.
    void forget(const std::string& name);

    // Where a message goes, and the number by which it is reported.
    struct Address {
        const Topic& topic;
        std::int32_t partition;
        std::string_view key;
        std::size_t place;
    };

    // Hands one message to the library. It copies everything but the payload, and that only if
    // `copies`; else the payload must stay until the message is reported by poll().
    [[nodiscard]] rd_kafka_resp_err_t produce(
        const Address& address,
        const wire::Encoded& message,
        bool copies
    );

    using Report = std::function<void(const rd_kafka_message_t&)>;

    // Who is told what became of messages, from within every call that waits. Nobody by default.
    void report_to(Report report) { report_ = std::move(report); }

    // Waits for news until the deadline and takes all of one sort. False: there was none.
    bool poll(Deadline deadline);

    // The library's latest statistics, once.
    [[nodiscard]] std::string take_statistics() { return std::exchange(statistics_, {}); }

    // What was produced and is not sent yet is reported as unsent.
    void purge();

    // From now on it sends nothing, and is_fatal.
    void give_up(const std::string& reason);

    // No broker can be reached any more; why() says what was the last to go wrong.
    [[nodiscard]] bool is_down() const { return is_down_; }
    [[nodiscard]] bool is_fatal() const;
    [[nodiscard]] std::string why() const;

    [[nodiscard]] rd_kafka_t* get() const { return handle_.get(); }

private:
    using Queue =
        std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_t, rd_kafka_queue_destroy>>;

    Client(const KafkaOptions& options, Producer handle);

    [[nodiscard]] rd_kafka_resp_err_t ask(Topic& topic, Deadline deadline);
    [[nodiscard]] rd_kafka_resp_err_t ask_patiently(
        Topic& topic,
        Deadline deadline,
        Deadline patience
    );
    void note(rd_kafka_event_t* event);

    const KafkaOptions& options_;
    Producer handle_;
    Queue queue_;
    std::map<std::string, Topic, std::less<>> topics_;
    Report report_;
    bool is_down_ = false;
    std::string trouble_;
    std::string statistics_;
};

}  // namespace outrider::kafka
