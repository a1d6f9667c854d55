#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "core/result.h"

namespace outrider::cli {

// A process of ours, ended with the object. It dies with us, too.
class Child {
public:
    Child() = default;
    ~Child() { kill(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Runs this very program with other arguments; what it prints goes to the file.
    [[nodiscard]] Result<void> start(
        const std::vector<std::string>& arguments,
        const std::string& log
    );

    // SIGKILL, and waits for the end.
    void kill();

    // SIGTERM, and waits for the end. Its exit code; -1 if a signal ended it.
    int stop();

    [[nodiscard]] bool is_running() const { return pid_ > 0; }

private:
    int end_with(int signal);

    pid_t pid_ = -1;
};

}  // namespace outrider::cli
