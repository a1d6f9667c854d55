#include "cli/child.h"

#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/descriptor.h"
#include "core/lines.h"

namespace outrider::cli {

Result<void> Child::start(const std::vector<std::string>& arguments, const std::string& log) {
    const Descriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file) return system_error("open '" + log + "'", errno);
    // Everything that allocates happens before the fork: we have threads.
    std::vector<char*> argv = {const_cast<char*>("outrider")};
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) return system_error("start a relay", errno);
    if (pid_ > 0) return {};
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::setpgid(0, 0);  // Ctrl-C in a terminal is for us alone; we stop it in order
    ::dup2(file.get(), STDOUT_FILENO);
    ::dup2(file.get(), STDERR_FILENO);
    ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
}

int Child::end_with(int signal) {
    const pid_t pid = std::exchange(pid_, -1);
    if (pid <= 0) return -1;
    ::kill(pid, signal);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void Child::kill() {
    end_with(SIGKILL);
}

int Child::stop() {
    return end_with(SIGTERM);
}

}  // namespace outrider::cli
