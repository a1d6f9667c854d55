#pragma once

#include <string_view>

namespace outrider::cli {

// Tells systemd how the service is, e.g. "READY=1", if it wants to know (NOTIFY_SOCKET).
void notify_service_manager(std::string_view state);

}  // namespace outrider::cli
