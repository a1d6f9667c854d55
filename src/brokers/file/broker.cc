#include "outrider/brokers.h"

#include "brokers/file/file.h"

namespace outrider {
namespace {

class FileConnection final : public Broker {
public:
    explicit FileConnection(std::string path) : file_(std::move(path)) {}

    // A batch is there whole or not at all.
    [[nodiscard]] BrokerTraits traits() const override {
        return {.keeps_order = true, .keeps_global_order = true};
    }

    void publish(std::span<const Envelope> envelopes, Deadline deadline, std::span<Answer> answers)
        override {
        const Result<void> appended = file_.append(envelopes, deadline);
        for (Answer& answer : answers) {
            if (appended) {
                answer.verdict = Verdict::acknowledged;
            } else {
                answer.reason = appended.error().text;
            }
        }
    }

    [[nodiscard]] Result<void> ping(Deadline /*deadline*/) override { return file_.open(); }

    [[nodiscard]] Result<BrokerFacts> describe(Deadline /*deadline*/) override {
        if (Result<void> there = file_.open(); !there) return there.error();
        return BrokerFacts{"a file of JSON lines", "written whole and synced to disk (fdatasync)"};
    }

private:
    LineFile file_;
};

class FileDriver final : public BrokerDriver {
public:
    explicit FileDriver(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] Result<std::unique_ptr<Broker>> open() override {
        return std::unique_ptr<Broker>(std::make_unique<FileConnection>(path_));
    }

private:
    std::string path_;
};

}  // namespace

std::shared_ptr<BrokerDriver> file_broker(std::string path) {
    return std::make_shared<FileDriver>(std::move(path));
}

}  // namespace outrider
