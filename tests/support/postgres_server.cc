#include "support/postgres_server.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace outrider {
namespace {

std::string find_programs() {
    if (const char* named = std::getenv("OUTRIDER_PG_BIN")) return named;
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql")) {
        found.push_back(entry.path().string() + "/bin");
    }
    if (found.empty()) throw std::runtime_error("PostgreSQL is not installed: run make deps");
    return *std::max_element(found.begin(), found.end());
}

void become_postgres() {
    if (::getuid() != 0) return;
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr || ::initgroups("postgres", user->pw_gid) != 0 ||
        ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0) {
        ::_exit(126);
    }
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

void give_to_postgres(const std::string& path) {
    const passwd* user = ::getpwnam("postgres");
    if (::getuid() == 0 && user != nullptr &&
        ::chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
        throw std::runtime_error("cannot give " + path + " to the user postgres");
    }
}

PostgresSession::PostgresSession(const std::string& conninfo)
    : connection_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) {
        const std::string reason = PQerrorMessage(connection_);
        PQfinish(connection_);
        throw std::runtime_error(reason);
    }
    PQsetNoticeProcessor(
        connection_, [](void*, const char*) {}, nullptr
    );
}

PostgresSession::~PostgresSession() {
    PQfinish(connection_);
}

void PostgresSession::run(const std::string& sql) const {
    PGresult* result = PQexec(connection_, sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        throw std::runtime_error(PQerrorMessage(connection_));
    }
}

std::string PostgresSession::value(const std::string& sql) const {
    const std::vector<std::string> values = column(sql);
    return values.empty() ? "" : values[0];
}

std::vector<std::string> PostgresSession::column(const std::string& sql) const {
    std::vector<std::string> values;
    PGresult* result = PQexec(connection_, sql.c_str());
    const bool good = PQresultStatus(result) == PGRES_TUPLES_OK;
    for (int row = 0; good && row < PQntuples(result); ++row) {
        values.emplace_back(PQgetvalue(result, row, 0));
    }
    PQclear(result);
    if (!good) throw std::runtime_error(PQerrorMessage(connection_));
    return values;
}

PostgresServer::PostgresServer(const std::string& configuration) : programs_(find_programs()) {
    give_to_postgres(folder_.path().string());
    const pid_t maker = spawn(
        {programs_ + "/initdb",
         "-D",
         folder_.file("data"),
         "-U",
         "postgres",
         "-A",
         "trust",
         "--no-sync"},
        folder_.file("initdb.log")
    );
    if (wait_for(maker) != 0) throw std::runtime_error("initdb failed");
    std::ofstream settings(folder_.file("data/postgresql.conf"), std::ios::app);
    settings << "listen_addresses = ''\nunix_socket_directories = '" << folder_.path().string()
             << "'\nmax_connections = 200\nmax_prepared_transactions = 50\nfsync = off\n"
             << "shared_buffers = 256MB\n"
             << configuration << "\n";
    settings.close();
    start();
}

PostgresServer::~PostgresServer() {
    kill(SIGQUIT);
}

PostgresServer& PostgresServer::shared() {
    static PostgresServer server;
    return server;
}

pid_t PostgresServer::spawn(const std::vector<std::string>& command, const std::string& log) const {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    become_postgres();
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // it must not outlive a test that crashes
    if (::getppid() != parent) ::_exit(1);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
}

void PostgresServer::start() {
    const std::vector<std::string> command = {programs_ + "/postgres", "-D", folder_.file("data")};
    pid_ = spawn(command, folder_.file("server.log"));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (PQping(conninfo("postgres").c_str()) != PQPING_OK) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error("the PostgreSQL server does not answer");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        // Children of the one before may still hold its memory: then it gives up, and is asked
        // again.
        if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
            pid_ = spawn(command, folder_.file("server.log"));
        }
    }
}

void PostgresServer::kill(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    wait_for(pid_);
    pid_ = -1;
}

std::string PostgresServer::log() const {
    std::ifstream file(folder_.file("server.log"));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string PostgresServer::conninfo(const std::string& database) const {
    return "host=" + folder_.path().string() +
           " user=postgres connect_timeout=60 dbname=" + database;
}

std::string PostgresServer::create_database() {
    const std::string name = "test_" + std::to_string(++databases_);
    PostgresSession(conninfo("postgres")).run("create database " + name);
    return conninfo(name);
}

void PostgresServer::dump(const std::string& from, const std::string& to) const {
    const std::string command = programs_ + "/pg_dump --no-owner --no-privileges -d '" + from +
                                "' | " + programs_ + "/psql -qX -v ON_ERROR_STOP=1 -d '" + to +
                                "' > /dev/null";
    // NOLINTNEXTLINE(cert-env33-c): the command is ours
    if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot copy the database");
}

// Recovery from an archive that has nothing ends at once, and every recovery from an archive begins
// a timeline.
void PostgresServer::stand_by() {
    kill(SIGINT);
    std::ofstream(folder_.file("data/standby.signal")).close();
    give_to_postgres(folder_.file("data/standby.signal"));
    start();
}

void PostgresServer::promote() {
    kill(SIGINT);
    std::ofstream(folder_.file("data/postgresql.conf"), std::ios::app)
        << "restore_command = 'false'\n";
    std::ofstream(folder_.file("data/recovery.signal")).close();
    give_to_postgres(folder_.file("data/recovery.signal"));
    start();
    const PostgresSession session(conninfo("postgres"));
    while (session.value("select pg_is_in_recovery()") == "t") {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace outrider
