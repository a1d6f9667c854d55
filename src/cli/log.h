#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "config/config.h"

namespace outrider::cli {

// A name and a value of a log line. Numbers stay numbers.
struct LogField {
    LogField(std::string_view name_, std::string_view value_) : name(name_), value(value_) {}
    template <std::integral Number>
    LogField(std::string_view name_, Number number)
        : name(name_),
          value(std::to_string(number)),
          is_number(true) {}

    std::string_view name;
    std::string value;
    bool is_number = false;
};

// Writes lines to standard error, as logfmt or JSON. Secrets in URLs are masked here, whoever
// wrote them. Never give it a payload or a key. Safe from any thread.
class Log {
public:
    explicit Log(const LogOptions& options);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    using Fields = std::initializer_list<LogField>;
    void debug(std::string_view text, Fields fields = {}) { write(LogLevel::debug, text, fields); }
    void info(std::string_view text, Fields fields = {}) { write(LogLevel::info, text, fields); }
    void warn(std::string_view text, Fields fields = {}) { write(LogLevel::warning, text, fields); }
    void error(std::string_view text, Fields fields = {}) { write(LogLevel::error, text, fields); }

private:
    void write(LogLevel level, std::string_view text, Fields fields);

    class Sink;
    const LogOptions options_;
    std::unique_ptr<Sink> sink_;
};

}  // namespace outrider::cli
