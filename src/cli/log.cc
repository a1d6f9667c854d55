#include "cli/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "config/secret_url.h"
#include "core/clock.h"
#include "core/text.h"

namespace outrider::cli {
namespace {

std::string_view name_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return "debug";
        case LogLevel::info:
            return "info";
        case LogLevel::warning:
            return "warning";
        case LogLevel::error:
            return "error";
    }
    return "?";
}

bool needs_quotes(std::string_view value) {
    if (value.empty()) return true;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte >= 0x7f || c == '"' || c == '=' || c == '\\') return true;
    }
    return false;
}

void append_value(std::string& line, std::string_view value, bool quoted) {
    if (quoted) {
        append_json_string(line, value);
    } else {
        line += value;
    }
}

void append_logfmt(std::string& line, const LogField& field) {
    if (!line.empty()) line += ' ';
    line += field.name;
    line += '=';
    append_value(line, field.value, needs_quotes(field.value));
}

void append_json_field(std::string& line, const LogField& field) {
    line += line.empty() ? '{' : ',';
    append_json_string(line, field.name);
    line += ':';
    append_value(line, field.value, !field.is_number);
}

}  // namespace

// spdlog does the writing and the locking. Its patterns cannot escape, so lines come ready-made.
class Log::Sink {
public:
    Sink() : logger_("outrider", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
        logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
        logger_.set_level(spdlog::level::trace);
    }

    void write(const std::string& line) { logger_.log(spdlog::level::info, line); }

private:
    spdlog::logger logger_;
};

Log::Log(const LogOptions& options) : options_(options), sink_(std::make_unique<Sink>()) {
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view text, Fields fields) {
    if (level < options_.level) return;
    const bool is_json = options_.format == LogFormat::json;
    const auto append = is_json ? append_json_field : append_logfmt;
    std::string line;
    append(line, {"time", to_iso(SystemClock().wall())});
    append(line, {"level", name_of(level)});
    append(line, {"msg", mask_secrets(text)});
    for (LogField field : fields) {
        field.value = mask_secrets(field.value);
        append(line, field);
    }
    if (is_json) line += '}';
    sink_->write(line);
}

}  // namespace outrider::cli
