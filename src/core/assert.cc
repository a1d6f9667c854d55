#include "core/assert.h"

#include <cstdio>
#include <cstdlib>

#include "outrider/observer.h"

namespace outrider {

void fail_assertion(const char* expectation, SourcePlace where) {
    std::fprintf(
        stderr,
        "outrider: internal error: expected %s at %s:%u\n",
        expectation,
        where.file,
        where.line
    );
    std::abort();
}

std::size_t weight(const Envelope& envelope) {
    // Rows cost memory besides their text: the envelope itself, and what the driver keeps for it.
    constexpr std::size_t kOverhead = 256;
    std::size_t bytes = kOverhead + envelope.topic.size() + envelope.key.size() +
                        envelope.type.size() + envelope.content_type.size() +
                        envelope.payload.size();
    for (const HeaderView& header : envelope.headers) {
        bytes += header.name.size() + header.value.size() + sizeof(HeaderView);
    }
    return bytes;
}

}  // namespace outrider
