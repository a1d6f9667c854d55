#include "brokers/wire/files.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "core/lines.h"

namespace outrider::wire {

Result<void> check_file(std::string_view option, const std::string& path) {
    if (path.empty()) return {};
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0) return {};
    return system_error("read " + std::string(option) + " " + path, errno);
}

Result<void> check_files(const Tls& tls) {
    if (Result<void> good = check_file("tls_ca", tls.tls_ca); !good) return good;
    if (Result<void> good = check_file("tls_cert", tls.tls_cert); !good) return good;
    return check_file("tls_key", tls.tls_key);
}

}  // namespace outrider::wire
