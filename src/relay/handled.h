#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "outrider/envelope.h"

namespace outrider {

// What a handler of this process has handled and no settle has written: the call lasted longer than
// the store keeps the lanes of a process that may be frozen, or the database went away. Whoever
// claims it again here answers for it without a call. Another process calls its own handler: at
// least once is what is promised.
//
// Only for a while, since a settle that seemed to fail may have been written after all, and then
// the next one to ask for the message is an operator who wants it handled once more.
//
// Shared by the workers of a destination; safe from any thread.
class Handled {
public:
    // A message from the log, and its copy among the parked ones.
    using Name = std::pair<std::array<std::uint8_t, 16>, bool>;

    [[nodiscard]] static Name name_of(const Envelope& envelope) {
        return {envelope.id.bytes(), envelope.parked};
    }

    [[nodiscard]] bool contains(const Envelope& envelope, MonoTime now) {
        const std::lock_guard lock(mutex_);
        const auto found = until_.find(name_of(envelope));
        return found != until_.end() && now < found->second;
    }

    void add(std::span<const Name> names, MonoTime now) {
        const std::lock_guard lock(mutex_);
        std::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
        for (const Name& name : names) until_[name] = now + kKept;
    }

    void remove(std::span<const Name> names) {
        const std::lock_guard lock(mutex_);
        for (const Name& name : names) until_.erase(name);
    }

    static constexpr Duration kKept = std::chrono::minutes(1);

private:
    std::mutex mutex_;
    std::map<Name, MonoTime> until_;
};

}  // namespace outrider
