#include "core/broker.h"

#include <cstdio>

#include <unistd.h>

#include "outrider/brokers.h"

#include "core/lines.h"

namespace outrider {
namespace {

// The C library's own lock of stdout, so that the lines of several destinations do not mix.
class StdoutLock {
public:
    StdoutLock() { ::flockfile(stdout); }
    ~StdoutLock() { ::funlockfile(stdout); }
    StdoutLock(const StdoutLock&) = delete;
    StdoutLock& operator=(const StdoutLock&) = delete;
};

class StdoutConnection final : public Broker {
public:
    [[nodiscard]] BrokerTraits traits() const override {
        return {.keeps_order = true, .keeps_global_order = true};
    }

    void publish(
        std::span<const Envelope> envelopes,
        Deadline /*deadline*/,
        std::span<Answer> answers
    ) override {
        const StdoutLock lock;
        const Result<void> written = write_lines(STDOUT_FILENO, envelopes);
        for (Answer& answer : answers) {
            if (written) {
                answer.verdict = Verdict::acknowledged;
            } else {
                answer.reason = "standard output: " + written.error().text;
            }
        }
    }

    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return {}; }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline /*deadline*/) override {
        return BrokerFacts{"standard output", "written; whoever reads it has to keep it"};
    }
};

class StdoutDriver final : public BrokerDriver {
public:
    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override {
        return std::unique_ptr<Broker>(std::make_unique<StdoutConnection>());
    }
};

}  // namespace

std::shared_ptr<BrokerDriver> stdout_broker() {
    return std::make_shared<StdoutDriver>();
}

}  // namespace outrider
