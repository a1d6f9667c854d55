#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "outrider/time.h"

namespace outrider::live {

// Asks again and again, for at most `patience`. Whether it became true.
[[nodiscard]] bool wait_until(
    const std::function<bool()>& is_true,
    Duration patience = std::chrono::seconds(30)
);

// A port of 127.0.0.1 that nobody listens on now. Below the range from which the system gives ports
// to clients, so that a server which was killed can have it again.
[[nodiscard]] std::uint16_t free_port();

struct Command {
    std::vector<std::string> words;
    std::vector<std::string> environment;  // NAME=value, over that of the test
    std::string output;                    // the file for what it prints
};

// A child process, leader of its own group. It ends with the object, and with the test.
class Process {
public:
    explicit Process(const Command& command);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] bool is_running();
    [[nodiscard]] pid_t id() const { return id_; }

    // To the whole group.
    void signal(int number) const;

    // Kills the group and waits for its leader.
    void kill();

private:
    pid_t id_ = -1;
    bool is_over_ = false;
};

// Waits until a server that was just started answers. False: it ended, or never does.
[[nodiscard]] bool comes_up(Process& server, const std::function<bool()>& answers);

}  // namespace outrider::live
