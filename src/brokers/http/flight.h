#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "brokers/http/link.h"
#include "brokers/http/writer.h"
#include "core/batch.h"
#include "core/verdict.h"

namespace outrider::http {

// One burst on its way: as many requests at once as the window allows, each answered by itself. A
// batch that a receiver finds unacceptable is posted again message by message, so that only the
// guilty one is charged.
class Flight {
public:
    struct Parts {
        Link& link;
        Writer& writer;
        const HttpOptions& options;
        std::span<const Envelope> envelopes;
        std::span<Answer> answers;
        Deadline deadline;
    };

    explicit Flight(Parts parts) : parts_(parts) {}

    // Posts everything and collects the answers. Once a request has had no answer no other is
    // begun: the rest stays unanswered.
    void make();

private:
    struct Range {
        std::size_t first = 0;
        std::size_t count = 0;
    };

    void begin_more();
    [[nodiscard]] bool next(Range& range);
    void begin(Transfer& transfer, Range range);
    void take(Range range, const Answer& answer);

    Parts parts_;
    std::size_t next_ = 0;
    std::vector<std::size_t> alone_;  // places whose batch was unacceptable
    std::unordered_map<const Transfer*, Range> under_way_;
    std::string outage_;  // why nothing more is begun; empty: all is well
};

}  // namespace outrider::http
