#pragma once

#include <string>

#include "config/secret_url.h"
#include "core/result.h"

namespace outrider::cli {

// The path of a URL that names a file: file:///var/log/a, file:relative/a, sqlite:shop.db, with
// %20 and the like decoded. The error says how to write it.
[[nodiscard]] Result<std::string> path_of(const SecretUrl& url);

// The other way round, for an absolute path: scheme:///var/a%20b.
[[nodiscard]] std::string url_of(const std::string& scheme, const std::string& path);

// Whether files can be made in the folder of this path.
[[nodiscard]] Result<void> check_folder(const std::string& path);

// The same, and whether the file itself, if there is one, can be written.
[[nodiscard]] Result<void> check_file(const std::string& path);

}  // namespace outrider::cli
