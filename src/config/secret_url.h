#pragma once

#include <string>
#include <string_view>

namespace outrider {

// A copy of the text in which every secret of a URL is replaced by ***: the password before the
// `@`, the user too where there is no password and users are keys or tokens (http:, nats:), and the
// values of parameters such as password= and token=. For logs and errors, which may quote a URL
// anywhere.
[[nodiscard]] std::string mask_secrets(std::string_view text);

// A URL that may contain a password. It cannot be printed by accident: masked() is for people,
// reveal() for the driver that connects.
class SecretUrl {
public:
    SecretUrl() = default;
    explicit SecretUrl(std::string text) : text_(std::move(text)) {}

    [[nodiscard]] bool empty() const { return text_.empty(); }

    // Like mask_secrets, and more careful, since all of the text is a URL, or was meant to be one:
    // in one that is broken everything before the `@` is replaced but its scheme, and so are the
    // values of parameters that are not known to be harmless.
    [[nodiscard]] std::string masked() const;
    [[nodiscard]] const std::string& reveal() const { return text_; }

    // What stands before the first colon, in lower case; empty if that is no scheme.
    [[nodiscard]] std::string scheme() const;

    // What stands behind it.
    [[nodiscard]] std::string_view rest() const;

private:
    std::string text_;
};

}  // namespace outrider
