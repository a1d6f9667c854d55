#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "outrider/error.h"

#include "core/assert.h"

namespace outrider {

// A value, or the Error that prevented it: what seams return, where failure is daily bread. The
// verbs are those of std::expected, so that one day this becomes an alias.
template <class T>
class [[nodiscard]] Result {
public:
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] T& value() & {
        OUTRIDER_ASSERT(has_value());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] const T& value() const& {
        OUTRIDER_ASSERT(has_value());
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] T&& value() && {
        OUTRIDER_ASSERT(has_value());
        return std::move(*std::get_if<0>(&state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    [[nodiscard]] const Error& error() const& {
        OUTRIDER_ASSERT(!has_value());
        return *std::get_if<1>(&state_);
    }
    [[nodiscard]] Error&& error() && {
        OUTRIDER_ASSERT(!has_value());
        return std::move(*std::get_if<1>(&state_));
    }

private:
    std::variant<T, Error> state_;
};

// Nothing, or the Error that prevented it. Default: it went well.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(Error error) : error_(std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] const Error& error() const& {
        OUTRIDER_ASSERT(!has_value());
        return *error_;
    }
    [[nodiscard]] Error&& error() && {
        OUTRIDER_ASSERT(!has_value());
        return std::move(*error_);
    }

private:
    std::optional<Error> error_;
};

}  // namespace outrider
