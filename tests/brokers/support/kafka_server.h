#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "brokers/support/certificates.h"
#include "brokers/support/kafka_client.h"
#include "brokers/support/process.h"
#include "support/temp_folder.h"

namespace outrider::live {

// A real Kafka of one node, broker and controller in one (KRaft), with a folder and ports of its
// own. One listener for everybody, one with TLS, one with logins: shop/sesame (PLAIN) and
// shop2/sesame2 (SCRAM-SHA-512); and one that sends its clients to another port, where a gate to it
// may stand.
class KafkaServer {
public:
    // `flags`: for Java. The default starts fast and runs slowly.
    explicit KafkaServer(std::vector<std::string> flags = {"-XX:TieredStopAtLevel=1"})
        : flags_(std::move(flags)) {
        flags_.insert(flags_.end(), {"-Xmx512m", "-XX:+UseSerialGC"});
        start();
    }

    // On the ports it had, if it had some. `settings`: lines of server.properties over ours.
    void start(const std::string& settings = {}) {
        for (int tries = 0; tries < 5; ++tries) {
            if (!was_up_ && !prepare()) continue;
            write_properties(settings);
            process_.emplace(java(flags_, "kafka.Kafka"));
            if (comes_up(*process_, [this] { return KafkaAdmin(address()).answers(); })) {
                was_up_ = true;
                return;
            }
        }
        FAIL() << "Kafka does not start: " << log();
    }

    void kill() { process_->kill(); }
    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::string url() const { return "kafka://" + address(); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::uint16_t gated_port() const { return gated_port_; }
    [[nodiscard]] std::uint16_t gate_port() const { return gate_port_; }
    [[nodiscard]] std::uint16_t tls_port() const { return tls_port_; }
    [[nodiscard]] std::uint16_t login_port() const { return login_port_; }
    [[nodiscard]] const Certificates& certificates() const { return certificates_; }

private:
    [[nodiscard]] Command java(std::vector<std::string> options, const std::string& main) const {
        std::vector<std::string> words = {"java"};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"-cp", std::string(OUTRIDER_KAFKA_FOLDER) + "/libs/*", main});
        if (main == "kafka.Kafka") words.push_back(folder_.file("server.properties"));
        return {words, {}, folder_.file("log")};
    }

    // New ports, and an empty store.
    bool prepare() {
        EXPECT_TRUE(std::filesystem::exists(OUTRIDER_KAFKA_FOLDER))
            << "the Kafka server is not there: run tools/kafka.sh";
        for (std::uint16_t* port :
             {&port_, &controller_port_, &tls_port_, &login_port_, &gated_port_, &gate_port_}) {
            *port = free_port();
        }
        write_properties({});
        Command format = java({"-XX:TieredStopAtLevel=1"}, "kafka.tools.StorageTool");
        for (const char* word :
             {"format",
              "-t",
              "b3V0cmlkZXItdGVzdHMtMQ",
              "--ignore-formatted",
              "--add-scram",
              "SCRAM-SHA-512=[name=shop2,password=sesame2]",
              "-c"}) {
            format.words.emplace_back(word);
        }
        format.words.push_back(folder_.file("server.properties"));
        Process tool(format);
        return wait_until([&] { return !tool.is_running(); }, std::chrono::seconds(120));
    }

    void write_properties(const std::string& settings) const {
        const auto on = [](const std::string& name, std::uint16_t port) {
            return name + "://127.0.0.1:" + std::to_string(port);
        };
        const std::string open = on("PLAINTEXT", port_) + "," + on("SSL", tls_port_) + "," +
                                 on("SASL_PLAINTEXT", login_port_) + ",";
        std::ofstream keys(folder_.file("keys.pem"));
        keys << std::ifstream(certificates_.key()).rdbuf()
             << std::ifstream(certificates_.certificate()).rdbuf();
        std::ofstream(folder_.file("server.properties")
        ) << "process.roles=broker,controller\nnode.id=1\n"
          << "controller.quorum.voters=1@127.0.0.1:" << controller_port_ << "\n"
          << "controller.listener.names=CONTROLLER\n"
          << "listeners=" << open << on("GATED", gated_port_) << ","
          << on("CONTROLLER", controller_port_) << "\n"
          << "advertised.listeners=" << open << on("GATED", gate_port_) << "\n"
          << "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,"
             "SASL_PLAINTEXT:SASL_PLAINTEXT,GATED:PLAINTEXT\n"
          << "log.dirs=" << folder_.file("data") << "\n"
          << "num.partitions=4\noffsets.topic.replication.factor=1\n"
          << "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
          // A starved server is no dead one; but who starts again waits for his old session's end.
          << "broker.session.timeout.ms=" << (was_up_ ? 3000 : 20'000)
          << "\nbroker.heartbeat.interval.ms=200\n"
          << "group.initial.rebalance.delay.ms=0\nauto.create.topics.enable=false\n"
          << "ssl.keystore.type=PEM\nssl.keystore.location=" << folder_.file("keys.pem") << "\n"
          << "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512\n"
          << "listener.name.sasl_plaintext.plain.sasl.jaas.config="
             "org.apache.kafka.common.security.plain.PlainLoginModule required "
             "user_shop=\"sesame\";\n"
          << "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config="
             "org.apache.kafka.common.security.scram.ScramLoginModule required;\n"
          << "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
          << "allow.everyone.if.no.acl.found=true\nsuper.users=User:ANONYMOUS\n"
          << settings << "\n";
    }

    [[nodiscard]] std::string log() const {
        std::ifstream file(folder_.file("log"));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::vector<std::string> flags_;
    const TempFolder folder_;
    const Certificates certificates_{"IP:127.0.0.1"};
    std::uint16_t port_ = 0;
    std::uint16_t controller_port_ = 0;
    std::uint16_t tls_port_ = 0;
    std::uint16_t login_port_ = 0;
    std::uint16_t gated_port_ = 0;
    std::uint16_t gate_port_ = 0;
    bool was_up_ = false;
    std::optional<Process> process_;
};

// One server for all tests of the binary.
inline KafkaServer& kafka_server() {
    static KafkaServer server;
    return server;
}

}  // namespace outrider::live
