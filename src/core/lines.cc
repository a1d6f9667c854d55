#include "core/lines.h"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <unistd.h>

#include "core/text.h"

namespace outrider {

Error system_error(std::string_view what, int number) {
    return {
        Remedy::wait,
        "cannot " + std::string(what) + ": " + std::strerror(number),
        number,
    };
}

Result<void> write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            pollfd ready{descriptor, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return system_error("write", errno);
        }
    }
    return {};
}

Result<void> write_lines(std::span<const Envelope> envelopes, const WritePiece& write) {
    constexpr std::size_t kPieceBytes = 256U << 10U;
    std::string piece;
    for (const Envelope& envelope : envelopes) {
        append_json(piece, envelope);
        piece += '\n';
        if (piece.size() < kPieceBytes) continue;
        if (Result<void> written = write(piece); !written) return written;
        piece.clear();
    }
    return write(piece);
}

}  // namespace outrider
