#pragma once

#include <string>
#include <string_view>

#include "brokers/wire/options.h"
#include "core/result.h"

namespace outrider::wire {

// Whether a file that an option of the URL names can be read now; an empty path is none. The error
// says which option, which file and why not: client libraries often do not.
//
// To be asked with every connection, and not when the URL is read: a secret that is mounted late is
// an outage until it is there, and ends no relay.
[[nodiscard]] Result<void> check_file(std::string_view option, const std::string& path);

// The same for all files of the encryption.
[[nodiscard]] Result<void> check_files(const Tls& tls);

}  // namespace outrider::wire
