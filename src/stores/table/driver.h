#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "core/store.h"
#include "stores/table/store.h"

namespace outrider::table {

// An application's own outbox table, for a relay. Its rows are delivered once, so destinations must
// not overlap: a destination whose topics another one also takes is refused. Safe from any thread.
class TableDriver final : public StoreDriver {
public:
    // `destinations`: those that operators should see before a relay has opened them.
    TableDriver(TablePlace place, std::vector<Destination> destinations);

    [[nodiscard]] Result<std::unique_ptr<Store>> open(const Destination& destination) override;
    [[nodiscard]] Result<std::unique_ptr<StoreAdmin>> open_admin(IfMissing if_missing) override;
    [[nodiscard]] std::unique_ptr<Waker> make_waker(Observer& observer) override;

private:
    [[nodiscard]] std::shared_ptr<Held> held(const std::string& destination);
    [[nodiscard]] Result<void> admit(const Destination& destination);

    const TablePlace place_;
    std::mutex mutex_;
    std::vector<Destination> destinations_;
    std::map<std::string, std::shared_ptr<Held>> held_;
};

// Whether some topic fits both patterns.
[[nodiscard]] bool overlap(std::string_view pattern, std::string_view other);

// Why a destination cannot begin behind the newest row.
[[nodiscard]] Error no_start_now(const Destination& destination);

// Why these destinations cannot share a table, if they cannot.
[[nodiscard]] std::optional<std::string> clash(const Destination& one, const Destination& other);

}  // namespace outrider::table
