#include <filesystem>
#include <fstream>
#include <mutex>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "conformance/broker_suite.h"
#include "core/descriptor.h"
#include "support/temp_folder.h"

namespace outrider {
namespace {

using testing::Received;

std::string decode_base64(const std::string& text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned buffer = 0;
    int bits = 0;
    for (const char c : text) {
        if (c == '=') break;
        buffer = (buffer << 6U) | static_cast<unsigned>(digits.find(c));
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>((buffer >> static_cast<unsigned>(bits)) & 0xffU);
        }
    }
    return bytes;
}

// An independent reader of what the file and stdout brokers write.
std::vector<Received> read_lines(const std::string& path) {
    std::vector<Received> received;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto json = nlohmann::json::parse(line);
        Received message;
        message.id = *MessageId::parse(json.at("id").get<std::string>());
        message.topic = json.at("topic");
        message.key = json.value("key", "");
        message.type = json.value("type", "");
        message.content_type = json.value("content_type", "");
        message.payload = json.contains("payload")
                              ? json["payload"].get<std::string>()
                              : decode_base64(json.at("payload_base64").get<std::string>());
        const auto headers = json.value("headers", nlohmann::json::object());
        for (const auto& [name, value] : headers.items()) message.headers.push_back({name, value});
        EXPECT_EQ(json.at("occurred_at"), "2023-11-14T22:13:20.123Z");
        received.push_back(std::move(message));
    }
    return received;
}

class FileHarness : public BrokerHarness {
public:
    std::shared_ptr<BrokerDriver> driver() override { return file_broker(path()); }
    std::vector<Received> received() override { return read_lines(path()); }
    void take_away() override {
        std::filesystem::rename(folder_.file("out"), folder_.file("away"));
    }
    void bring_back() override {
        std::filesystem::rename(folder_.file("away"), folder_.file("out"));
    }

    FileHarness() { std::filesystem::create_directory(folder_.file("out")); }

    [[nodiscard]] std::string path() const { return folder_.file("out/messages.jsonl"); }

private:
    TempFolder folder_;
};

// Points the process's standard output to a file while it lives.
class StdoutHarness final : public BrokerHarness {
public:
    StdoutHarness() {
        std::fflush(stdout);
        saved_ = Descriptor(::dup(STDOUT_FILENO));
        const Descriptor file(::open(path().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
        ::dup2(file.get(), STDOUT_FILENO);
    }
    ~StdoutHarness() override { ::dup2(saved_.get(), STDOUT_FILENO); }
    StdoutHarness(const StdoutHarness&) = delete;
    StdoutHarness& operator=(const StdoutHarness&) = delete;

    std::shared_ptr<BrokerDriver> driver() override { return stdout_broker(); }
    std::vector<Received> received() override { return read_lines(path()); }

private:
    [[nodiscard]] std::string path() const { return folder_.file("out"); }

    TempFolder folder_;
    Descriptor saved_;
};

class MemoryBrokerHarness final : public BrokerHarness {
public:
    std::shared_ptr<BrokerDriver> driver() override { return broker_.driver(); }
    std::vector<Received> received() override { return broker_.received(); }

private:
    testing::MemoryBroker broker_;
};

// Around a broker that can be away: its absence must show through.
class FaultyHarness final : public FileHarness {
public:
    std::shared_ptr<BrokerDriver> driver() override {
        return testing::faulty_broker(FileHarness::driver(), [](const Delivery&) {
            return testing::Fault::none;
        });
    }
};

class HandlerHarness final : public BrokerHarness {
public:
    std::shared_ptr<BrokerDriver> driver() override {
        return handler_broker([this](const Delivery& delivery) {
            const std::lock_guard lock(mutex_);
            received_.push_back(
                {delivery.id,
                 std::string(delivery.topic),
                 std::string(delivery.key),
                 std::string(delivery.type),
                 std::string(delivery.content_type),
                 std::string(delivery.payload),
                 delivery.headers}
            );
        });
    }
    std::vector<Received> received() override {
        const std::lock_guard lock(mutex_);
        return received_;
    }

private:
    std::mutex mutex_;
    std::vector<Received> received_;
};

template <class Harness>
BrokerParameter parameter(std::string name) {
    return {std::move(name), [] { return std::make_unique<Harness>(); }};
}

INSTANTIATE_TEST_SUITE_P(
    Brokers,
    BrokerSuite,
    ::testing::Values(
        parameter<FileHarness>("file"),
        parameter<StdoutHarness>("stdout"),
        parameter<MemoryBrokerHarness>("memory"),
        parameter<FaultyHarness>("faulty"),
        parameter<HandlerHarness>("handler")
    ),
    [](const auto& parameters) { return parameters.param.name; }
);

INSTANTIATE_TEST_SUITE_P(
    Brokers,
    AwaySuite,
    ::testing::Values(parameter<FileHarness>("file"), parameter<FaultyHarness>("faulty")),
    [](const auto& parameters) { return parameters.param.name; }
);

}  // namespace
}  // namespace outrider
