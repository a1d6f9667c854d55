#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "brokers/http/door.h"
#include "brokers/http/link.h"
#include "brokers/http/writer.h"
#include "core/batch.h"
#include "core/verdict.h"

namespace outrider::http {

// One burst on its way: as many requests at once as the window allows, each answered by itself. A
// batch that may have failed because of one message in it is posted again in halves, and these in
// halves of their own, until the guilty one is alone, so that only it is charged. Where a receiver
// has acknowledged nothing at all, only one of the batches it refused is followed down to a single
// message: if that is refused too it is not the messages, and all have their answer. Where
// nobody was let in and the door is shut, whoever was turned away is not charged.
class Flight {
public:
    struct Parts {
        Link& link;
        Writer& writer;
        Door& door;
        const HttpOptions& options;
        std::span<const Envelope> envelopes;
        std::span<Answer> answers;
        Deadline deadline;
    };

    explicit Flight(Parts parts) : parts_(parts) {}

    // Posts everything and collects the answers. Once a request has had no answer no other is
    // begun: the rest stays unanswered, batches that were to be divided among it.
    void make();

private:
    struct Range {
        std::size_t first = 0;
        std::size_t count = 0;
    };

    struct Refused {
        Range range;
        Answer answer;
    };

    void begin_more();
    [[nodiscard]] bool next(Range& range);
    void begin(Transfer& transfer, Range range);
    void hear(Range range, const Transfer& transfer, CURLcode code);
    void take(Range range, const Answer& answer, bool is_about_content);
    void take_late();
    void settle(Range range, const Answer& answer);
    void divide(Range range);
    void divide_refused();
    void forgive();

    Parts parts_;
    std::size_t next_ = 0;
    std::vector<Range> pieces_;     // of divided batches, to be posted
    std::vector<Refused> refused_;  // batches that may yet be divided; the smallest last
    std::vector<Range> turned_away_;
    bool was_let_in_ = false;  // somebody has answered who did not turn the message away
    bool has_acknowledged_ = false;
    bool has_refused_one_ = false;  // a message that was alone
    std::unordered_map<const Transfer*, Range> under_way_;
    std::string outage_;  // why nothing more is begun; empty: all is well
};

}  // namespace outrider::http
