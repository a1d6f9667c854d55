#pragma once

#include <cstdint>
#include <string>

#include "outrider/time.h"

#include "core/result.h"
#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// The key of a lock that sleepers share: whoever gets it alone knows that nobody sleeps.
[[nodiscard]] std::int64_t sleepers_lock(const Names& names);

// The session that listens for rings. While the bell is raised, a default of the log notifies us at
// every commit of a message; while it is lowered, a writer pays for one look at a sequence and
// nothing else. One thread at a time.
class BellLine {
public:
    [[nodiscard]] static Result<BellLine> open(const std::string& conninfo, Names names);

    // A pooler would give our session to others: nobody can listen there.
    [[nodiscard]] bool is_deaf() const { return connection_.is_pooled(); }

    // From now on every message whose transaction begins rings us. One that has begun already may
    // have looked at the bell too early: `has_unended()` until all of those have ended, and whoever
    // wants to sleep must look into the log once after this, and once after each of those ends.
    [[nodiscard]] Result<void> raise();

    // Unless some other relay sleeps: a bell that one lowered while another slept would never ring.
    [[nodiscard]] Result<void> lower();

    [[nodiscard]] bool has_unended() const { return unended_ > 0; }

    // Looks which have ended since. True: at least one has.
    [[nodiscard]] Result<bool> has_one_ended();

    // Waits until rung, until `other` (a descriptor) can be read, or until the moment. How often it
    // was rung.
    [[nodiscard]] Result<int> listen(int other, MonoTime until);

    // How many commits wait for another one that rings somebody.
    [[nodiscard]] Result<std::int64_t> waiting();

    // The number that was last given to a message.
    [[nodiscard]] Result<std::int64_t> traffic();

private:
    BellLine(Connection connection, Names names)
        : connection_(std::move(connection)),
          names_(std::move(names)) {}

    [[nodiscard]] Result<Rows> run(std::string_view sql, const Parameters& parameters = {}) const;
    [[nodiscard]] Result<Rows> lock(std::string_view function) const;
    [[nodiscard]] Result<void> set(bool awake) const;

    // How many transactions below the barrier are still in progress.
    [[nodiscard]] Result<std::int64_t> count_unended();

    Connection connection_;
    Names names_;
    std::int64_t barrier_ = 0;  // an id that was drawn after the bell was raised
    std::int64_t unended_ = 0;
};

}  // namespace outrider::postgres
