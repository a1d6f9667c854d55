#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace outrider::http {

// Signs requests as Standard Webhooks says: HMAC with SHA-256 over "id.timestamp.body". A value.
class Signer {
public:
    // One secret, or several with commas between them, each "whsec_" and base64 of 24 to 64 bytes.
    // Empty: nothing is signed. The error quotes nothing.
    [[nodiscard]] static Result<Signer> parse(std::string_view secrets);

    [[nodiscard]] bool signs() const { return !keys_.empty(); }

    // The value of the header webhook-signature: "v1,..." for every secret, with spaces between.
    [[nodiscard]] std::string sign(
        std::string_view id,
        std::string_view timestamp,
        std::string_view body
    ) const;

private:
    std::vector<std::string> keys_;
};

// The SHA-256 of the text, in hexadecimal.
[[nodiscard]] std::string digest_of(std::string_view text);

}  // namespace outrider::http
