#include "brokers/http/signer.h"

#include <array>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "core/assert.h"
#include "core/text.h"

namespace outrider::http {
namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr std::size_t kKeyBytesMin = 24;
constexpr std::size_t kKeyBytesMax = 64;

const unsigned char* bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

// Empty: it is no base64. The library counts padding as bytes of zero.
std::string decode_base64(std::string_view text) {
    std::string plain(text.size(), '\0');
    const int size = EVP_DecodeBlock(
        reinterpret_cast<unsigned char*>(plain.data()), bytes(text), static_cast<int>(text.size())
    );
    const auto padding = static_cast<int>(text.size() - text.find_last_not_of('=') - 1);
    if (size < 0 || padding > 2 || size < padding) return {};
    plain.resize(static_cast<std::size_t>(size - padding));
    return plain;
}

std::string hmac(const std::string& key, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    const unsigned char* made = HMAC(
        EVP_sha256(),
        key.data(),
        static_cast<int>(key.size()),
        bytes(text),
        text.size(),
        digest.data(),
        &size
    );
    OUTRIDER_ASSERT(made != nullptr);
    return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

Result<Signer> Signer::parse(std::string_view secrets) {
    Signer signer;
    while (!secrets.empty()) {
        std::string_view one = secrets.substr(0, secrets.find(','));
        secrets.remove_prefix(std::min(one.size() + 1, secrets.size()));
        const bool has_prefix = one.starts_with(kPrefix);
        if (has_prefix) one.remove_prefix(kPrefix.size());
        std::string key = has_prefix ? decode_base64(one) : std::string();
        if (key.size() < kKeyBytesMin || key.size() > kKeyBytesMax) {
            return Error{
                Remedy::correct,
                "secret takes whsec_ followed by base64 of 24 to 64 bytes (write + as %2B)"};
        }
        signer.keys_.push_back(std::move(key));
    }
    return signer;
}

std::string Signer::sign(std::string_view id, std::string_view timestamp, std::string_view body)
    const {
    std::string content;
    content.reserve(id.size() + timestamp.size() + body.size() + 2);
    content.append(id).append(".").append(timestamp).append(".").append(body);
    std::string line;
    for (const std::string& key : keys_) {
        line += line.empty() ? "v1," : " v1,";
        append_base64(line, hmac(key, content));
    }
    return line;
}

std::string digest_of(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    const int made =
        EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
    OUTRIDER_ASSERT(made == 1);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) {
        hex += {kDigits[digest[i] >> 4U], kDigits[digest[i] & 15U]};
    }
    return hex;
}

}  // namespace outrider::http
