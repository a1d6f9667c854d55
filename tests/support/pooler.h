#pragma once

#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "brokers/support/process.h"
#include "support/postgres_server.h"
#include "support/tcp.h"
#include "support/temp_folder.h"

namespace outrider {

// PgBouncer in transaction mode before all databases of a server, with few sessions: every
// transaction may get another one.
class Pooler {
public:
    explicit Pooler(const PostgresServer& server) {
        std::ofstream(folder_.file("ini"))
            << "[databases]\n* = host=" << server.folder() << " user=postgres\n[pgbouncer]\n"
            << "listen_addr = 127.0.0.1\nlisten_port = " << port_ << "\nunix_socket_dir =\n"
            << "auth_type = any\npool_mode = transaction\nmax_client_conn = 200\n"
            << "default_pool_size = 8\nignore_startup_parameters = extra_float_digits\n";
        give_to_postgres(folder_.path().string());
        live::Command command{
            {"/usr/sbin/pgbouncer", folder_.file("ini")}, {}, folder_.file("log")};
        if (::getuid() == 0) {  // it refuses to run as root
            const auto user = {"setpriv", "--reuid", "postgres", "--clear-groups"};
            command.words.insert(command.words.begin(), user.begin(), user.end());
        }
        process_.emplace(command);
        const auto is_up = [this] { return !process_->is_running() || live::listens(port_); };
        if (!live::wait_until(is_up) || !process_->is_running()) {
            throw std::runtime_error("PgBouncer does not start: is it installed? run make deps");
        }
    }

    // For the end of a conninfo of the server: the last of each word counts.
    [[nodiscard]] std::string place() const {
        return " host=127.0.0.1 port=" + std::to_string(port_);
    }

private:
    TempFolder folder_;
    std::uint16_t port_ = live::free_port();
    std::optional<live::Process> process_;
};

}  // namespace outrider
