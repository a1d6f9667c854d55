#pragma once

#include <memory>
#include <string>

namespace outrider {

class StoreDriver;

namespace sqlite {

// The database at this path, for outrider::Relay. It is opened when the relay starts, and again
// whenever it was lost, so it need not exist yet. One relay at a time serves a destination of it;
// others stand by and take over, also from a process that was killed; a child that it has forked
// without exec must end first. A relative path is meant from the folder that the process is in
// now. SQLite's own URIs (file:...) are refused when it is opened.
[[nodiscard]] std::shared_ptr<StoreDriver> open_store(std::string path);

}  // namespace sqlite
}  // namespace outrider
