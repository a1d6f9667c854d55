#include "cli/notify.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

#include "core/descriptor.h"

namespace outrider::cli {

void notify_service_manager(std::string_view state) {
    const char* variable = std::getenv("NOTIFY_SOCKET");
    if (variable == nullptr || *variable == '\0') return;
    const std::string_view name = variable;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path) return;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';  // the abstract namespace
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) return;
    // Nobody listening is no reason to do anything else.
    [[maybe_unused]] const ssize_t sent = ::sendto(
        socket.get(),
        state.data(),
        state.size(),
        MSG_NOSIGNAL,
        reinterpret_cast<const sockaddr*>(&address),
        length
    );
}

}  // namespace outrider::cli
