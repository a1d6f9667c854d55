#pragma once

namespace outrider::cli {

// What stands at the end of `outrider --help`.
inline constexpr const char* kFooter =
    R"(Every key of the configuration can be set in the file, by a variable and by a flag:
  [relay] retention = "1d"    OUTRIDER_RELAY_RETENTION=1d    --set relay.retention=1d
  [[destination]] name = "orders", workers = 2
    OUTRIDER_DESTINATION_ORDERS_WORKERS=2    --set destination.orders.workers=2
The file is --config, else OUTRIDER_CONFIG, else ./outrider.toml.
The store is --store, else OUTRIDER_STORE_URL, else the file's, else DATABASE_URL.

Examples:
  outrider demo
  outrider migrate up --store sqlite:shop.db
  outrider enqueue orders.placed '{"id":1}' --key customer-1
  outrider relay --drain
  outrider status --json

Exit codes:
  0  fine
  1  failed
  2  usage or configuration
  3  only parked or dead messages remain
  4  unhealthy, or out of time
  5  nothing matched
  6  cannot connect
)";

}  // namespace outrider::cli
