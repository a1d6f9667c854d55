#pragma once

#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "brokers/support/certificates.h"
#include "brokers/support/process.h"
#include "brokers/support/rabbitmq_client.h"
#include "support/temp_folder.h"

namespace outrider::live {

// A real rabbitmq-server with a folder, ports, a node name and a port mapper (epmd) of its own, so
// that several can run side by side. It listens with and without TLS.
class RabbitmqServer {
public:
    RabbitmqServer() : certificates_("DNS:localhost") {
        std::ofstream(folder_.file("plugins")) << "[].\n";
        start();
    }

    // On the ports it had, if it had any.
    void start() {
        for (int tries = 0; tries < 5; ++tries) {
            if (!was_up_) choose_ports();
            process_.emplace(command({"rabbitmq-server"}, "log"));
            if (comes_up(*process_, [this] { return RabbitmqClient(port_).answers(); })) {
                was_up_ = true;
                return;
            }
        }
        FAIL() << "rabbitmq-server does not start, see " << folder_.file("log");
    }

    void kill() { process_->kill(); }
    void freeze() const { process_->signal(SIGSTOP); }
    void thaw() const { process_->signal(SIGCONT); }

    // Runs rabbitmqctl and waits for it.
    void control(std::vector<std::string> words) const {
        words.insert(words.begin(), "rabbitmqctl");
        Process process(command(std::move(words), "control"));
        EXPECT_TRUE(wait_until([&] { return !process.is_running(); }, std::chrono::minutes(5)));
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::uint16_t tls_port() const { return tls_port_; }
    [[nodiscard]] const Certificates& certificates() const { return certificates_; }
    [[nodiscard]] std::string url(const std::string& login = {}) const {
        return "amqp://" + login + "127.0.0.1:" + std::to_string(port_);
    }

private:
    void choose_ports() {
        port_ = free_port();
        tls_port_ = free_port();
        dist_port_ = free_port();
        epmd_port_ = free_port();
        std::ofstream(folder_.file("rabbit.conf"))
            << "listeners.tcp.1 = 127.0.0.1:" << port_ << "\n"
            << "listeners.ssl.1 = 127.0.0.1:" << tls_port_ << "\n"
            << "ssl_options.cacertfile = " << certificates_.authority() << "\n"
            << "ssl_options.certfile = " << certificates_.certificate() << "\n"
            << "ssl_options.keyfile = " << certificates_.key() << "\n"
            << "ssl_options.verify = verify_none\n"
            << "max_message_size = 1000000\n"
            << "disk_free_limit.absolute = 1MB\n";
        // In the foreground, so that it ends with us; RabbitMQ would leave one behind.
        epmd_.emplace(Command{
            {"epmd", "-port", std::to_string(epmd_port_), "-address", "127.0.0.1"},
            {},
            folder_.file("epmd")});
    }

    [[nodiscard]] Command command(std::vector<std::string> words, const std::string& output) const {
        // Not the wrapper in the path, which insists on a user of its own.
        words[0] = "/usr/lib/rabbitmq/bin/" + words[0];
        const std::string folder = folder_.path().string();
        return {
            std::move(words),
            {"HOME=" + folder,
             "RABBITMQ_NODENAME=outrider" + std::to_string(port_) + "@localhost",
             "RABBITMQ_MNESIA_BASE=" + folder + "/mnesia",
             "RABBITMQ_LOG_BASE=" + folder + "/logs",
             "RABBITMQ_CONFIG_FILE=" + folder + "/rabbit.conf",
             "RABBITMQ_CONF_ENV_FILE=/dev/null",
             "RABBITMQ_ENABLED_PLUGINS_FILE=" + folder + "/plugins",
             "RABBITMQ_PID_FILE=" + folder + "/pid",
             "RUNNING_UNDER_SYSTEMD=true",  // the script becomes the server: it is what we kill
             "RABBITMQ_NODE_PORT=" + std::to_string(port_),
             "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
             "RABBITMQ_DIST_PORT=" + std::to_string(dist_port_),
             "ERL_EPMD_PORT=" + std::to_string(epmd_port_),
             "ERL_EPMD_ADDRESS=127.0.0.1",
             "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none"},
            folder_.file(output)};
    }

    TempFolder folder_;
    Certificates certificates_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    std::uint16_t dist_port_ = 0;
    std::uint16_t epmd_port_ = 0;
    bool was_up_ = false;
    std::optional<Process> epmd_;
    std::optional<Process> process_;
};

// One server for all tests of the binary.
inline RabbitmqServer& rabbitmq_server() {
    static RabbitmqServer server;
    return server;
}

}  // namespace outrider::live
