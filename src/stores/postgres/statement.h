#pragma once

#include "outrider/postgres_enqueue.h"

#include "stores/postgres/connection.h"
#include "stores/postgres/names.h"

namespace outrider::postgres {

// The statements of this schema. Throws Failure (correct) if its name is not allowed.
[[nodiscard]] Names names_of(const PostgresEnqueueOptions& options);

// The headers as a JSON object; nothing where there are none.
[[nodiscard]] std::optional<std::string> headers_of(const Message& message);

// Runs the statement in one round trip. The caller looks at the result.
[[nodiscard]] Rows execute(PGconn* connection, const EnqueueStatement& statement);

}  // namespace outrider::postgres
