#include "brokers/support/process.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "core/clock.h"
#include "core/descriptor.h"

namespace outrider::live {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
    std::vector<std::string> all;
    for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
    // The last of two assignments counts for neither shell nor C, so the old one goes.
    for (const std::string& assignment : more) {
        const std::string name = assignment.substr(0, assignment.find('=') + 1);
        std::erase_if(all, [&](const std::string& old) { return old.starts_with(name); });
        all.push_back(assignment);
    }
    return all;
}

[[noreturn]] void become(const Command& command, char** words, char** environment) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int file = ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execvpe(words[0], words, environment);
    ::_exit(127);
}

bool is_free(std::uint16_t port) {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int one = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Nobody else of our tests takes it before this process ends, not even while its server is down: an
// abstract socket with its name says so, here as in tests/support/ports.py.
bool is_ours(std::uint16_t port) {
    static std::mutex mutex;
    static std::vector<Descriptor> held;
    Descriptor claim(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    const std::string name = "outrider port " + std::to_string(port);
    name.copy(place.sun_path + 1, name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (::bind(claim.get(), reinterpret_cast<const sockaddr*>(&place), size) != 0) return false;
    const std::lock_guard lock(mutex);
    held.push_back(std::move(claim));
    return true;
}

}  // namespace

bool wait_until(const std::function<bool()>& is_true, Duration patience) {
    const MonoTime end = SystemClock().now() + patience;
    while (!is_true()) {
        if (SystemClock().now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

std::uint16_t free_port() {
    std::random_device chance;
    std::uniform_int_distribution<int> ports(20'000, 32'000);
    for (int tries = 0; tries < 1000; ++tries) {
        const auto port = static_cast<std::uint16_t>(ports(chance));
        if (is_ours(port) && is_free(port)) return port;
    }
    throw std::runtime_error("no free port");
}

Process::Process(const Command& command) {
    std::vector<std::string> words = command.words;
    std::vector<std::string> environment = environment_with(command.environment);
    const std::vector<char*> word_pointers = pointers(words);
    const std::vector<char*> environment_pointers = pointers(environment);
    id_ = ::fork();
    if (id_ == 0) {
        become(
            command,
            const_cast<char**>(word_pointers.data()),
            const_cast<char**>(environment_pointers.data())
        );
    }
    if (id_ < 0) throw std::runtime_error("cannot fork");
    ::setpgid(id_, id_);
}

Process::~Process() {
    kill();
}

bool Process::is_running() {
    if (!is_over_ && ::waitpid(id_, nullptr, WNOHANG) == id_) is_over_ = true;
    return !is_over_;
}

void Process::signal(int number) const {
    if (is_over_) return;
    ::kill(-id_, number);
    // A busy machine takes a while to stop a process of many threads.
    siginfo_t state{};
    if (number == SIGSTOP)
        ::waitid(P_PID, static_cast<id_t>(id_), &state, WSTOPPED | WEXITED | WNOWAIT);
}

void Process::kill() {
    if (is_over_) return;
    ::kill(-id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    is_over_ = true;
}

bool comes_up(Process& server, const std::function<bool()>& answers) {
    const auto is_settled = [&] { return !server.is_running() || answers(); };
    return wait_until(is_settled, std::chrono::minutes(2)) && server.is_running();
}

}  // namespace outrider::live
