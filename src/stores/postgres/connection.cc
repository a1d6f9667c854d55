#include "stores/postgres/connection.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace outrider::postgres {
namespace {

struct Class {
    std::string_view prefix;
    Remedy remedy;
};

// By the first characters of the SQLSTATE, the longest first.
constexpr std::array kClasses = {
    Class{"40001", Remedy::yield},    // serialization failure
    Class{"40P01", Remedy::yield},    // deadlock
    Class{"23505", Remedy::yield},    // somebody else wrote that turn
    Class{"22012", Remedy::yield},    // settle_cursor.sql: fewer cursors than lanes
    Class{"25006", Remedy::wait},     // read only: a standby, or a failover under way
    Class{"25P03", Remedy::yield},    // idle in transaction for too long: we were frozen
    Class{"55P03", Remedy::wait},     // lock not available
    Class{"57014", Remedy::wait},     // cancelled, timed out
    Class{"42501", Remedy::correct},  // not permitted
    Class{"3D000", Remedy::correct},  // no such database
    Class{"28", Remedy::correct},     // wrong password
    Class{"55000", Remedy::correct},  // not in the state for that: no replica identity
    Class{"0A", Remedy::correct},     // the server cannot do that
    Class{"42", Remedy::correct},     // no such table, no such column
    Class{"22", Remedy::correct},     // bad value
    Class{"23", Remedy::correct},     // a constraint says no
    Class{"XX", Remedy::call},        // corrupted
    Class{"58", Remedy::call},
};

// libpq writes several lines, with a newline behind each and blanks before some, and asks whether
// the server is running.
std::string one_line(const char* text) {
    constexpr std::string_view kBlanks = " \t\r";
    std::string line;
    for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
        std::string_view part = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        part.remove_prefix(std::min(part.find_first_not_of(kBlanks), part.size()));
        if (part.empty() || (!line.empty() && part.ends_with('?'))) continue;
        line.append(line.empty() ? "" : "; ").append(part);
    }
    return line;
}

// Ours come first: what the user's conninfo says, behind them, overrides them.
constexpr std::array kKeywords = {
    "fallback_application_name",
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
};
constexpr std::array kValues = {"outrider", "5", "1", "4", "2", "3", "10000"};

// The same for the server's end: only what it notices itself frees our lanes. Ten seconds of
// silence. And strings and arrays are read as our statements mean them, and all rows are seen or
// none, whatever the role's settings are.
constexpr const char* kServerSide =
    "select set_config('standard_conforming_strings', 'on', false), "
    "set_config('array_nulls', 'on', false), "
    "set_config('row_security', 'off', false), "
    "set_config('tcp_keepalives_idle', '4', false), "
    "set_config('tcp_keepalives_interval', '2', false), "
    "set_config('tcp_keepalives_count', '3', false), "
    "set_config('tcp_user_timeout', '10000', false)";

// Whoever may create functions could have them run by a relay or an operator otherwise.
constexpr const char* kOnlyCatalog = "select set_config('search_path', 'pg_catalog', false)";

// A relay that sleeps is not one that was forgotten.
constexpr int kIdleTimeoutSince = 140000;
constexpr const char* kMayIdle = "select set_config('idle_session_timeout', '0', false)";

constexpr std::string_view kBehindSeverity = ":  ";

// libpq tells no SQLSTATE of a connection that failed, and its text is in the server's language.
// What a server said has two blanks behind its severity; then it is asked once more, for codes in
// place of sentences. Several hosts: the last one that said anything decides.
Remedy remedy_of_refusal(PGconn* connection) {
    if (PQconnectionNeedsPassword(connection) == 1) return Remedy::correct;
    const auto said_at = [connection] {
        return std::string_view(PQerrorMessage(connection)).rfind(kBehindSeverity);
    };
    if (said_at() == std::string_view::npos) return Remedy::wait;
    PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE);
    PQreset(connection);
    if (PQstatus(connection) == CONNECTION_OK || said_at() == std::string_view::npos) {
        return Remedy::wait;
    }
    return remedy_of(
        std::string_view(PQerrorMessage(connection)).substr(said_at() + kBehindSeverity.size())
    );
}

// A slash in the password of a URL makes a port of it, and libpq would print that.
bool has_odd_port(const std::string& conninfo) {
    struct Free {
        void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
    };
    const std::unique_ptr<PQconninfoOption, Free> options(PQconninfoParse(conninfo.c_str(), nullptr)
    );
    const PQconninfoOption* option = options.get();
    while (option != nullptr && option->keyword != nullptr) {
        const std::string_view value = option->val == nullptr ? "" : option->val;
        const bool is_port = std::string_view(option->keyword) == "port";
        if (is_port && value.find_first_not_of("0123456789,") != std::string_view::npos)
            return true;
        ++option;
    }
    return false;
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) value = (value << 8U) | static_cast<unsigned char>(c);
    return value;
}

// The details of a violated constraint are the row, which belongs in no log.
std::string server_text(const PGresult* result, std::string_view state) {
    if (!state.starts_with("23")) return one_line(PQresultErrorMessage(result));
    return "ERROR: " + one_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
}

}  // namespace

Remedy remedy_of(std::string_view sqlstate) {
    for (const Class& entry : kClasses) {
        if (sqlstate.starts_with(entry.prefix)) return entry.remedy;
    }
    return Remedy::wait;
}

Error error_of(PGconn* connection, const PGresult* result) {
    const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state == nullptr) {
        const char* text =
            result == nullptr ? PQerrorMessage(connection) : PQresultErrorMessage(result);
        return {Remedy::wait, "PostgreSQL: " + one_line(text)};
    }
    return {remedy_of(state), "PostgreSQL: " + server_text(result, state), native_code_of(state)};
}

std::string_view Rows::bytes(int row, int column) const {
    return {
        PQgetvalue(result_.get(), row, column),
        static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::integer(int row, int column) const {
    const std::string_view raw = bytes(row, column);
    const std::uint64_t value = big_endian(raw);
    if (raw.size() == 2) return static_cast<std::int16_t>(value);
    if (raw.size() == 4) return static_cast<std::int32_t>(value);
    return static_cast<std::int64_t>(value);
}

bool Rows::boolean(int row, int column) const {
    const std::string_view raw = bytes(row, column);
    return !raw.empty() && raw[0] != 0;
}

std::int64_t Rows::changed() const {
    return std::strtoll(PQcmdTuples(result_.get()), nullptr, 10);
}

Parameters& Parameters::add(std::string_view text) {
    values_.emplace_back(text);
    return *this;
}

Parameters& Parameters::add_null() {
    values_.emplace_back();
    return *this;
}

std::vector<const char*> Parameters::pointers() const {
    std::vector<const char*> pointers;
    for (const auto& value : values_) pointers.push_back(value ? value->c_str() : nullptr);
    return pointers;
}

void ArrayText::raw(std::string_view element) {
    if (text_.size() > 1) text_ += ',';
    text_ += element;
}

void ArrayText::add(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    raw(quoted + "\"");
}

std::vector<std::int64_t> read_array(std::string_view text) {
    std::vector<std::int64_t> elements;
    for (std::size_t at = text.find_first_of("-0123456789"); at != std::string_view::npos;) {
        std::int64_t element = 0;
        const char* end = std::from_chars(text.data() + at, text.data() + text.size(), element).ptr;
        elements.push_back(element);
        at = text.find_first_of("-0123456789", static_cast<std::size_t>(end - text.data()));
    }
    return elements;
}

Result<Connection> Connection::open(const std::string& conninfo, Path path) {
    if (has_odd_port(conninfo)) {
        return Error{
            Remedy::correct,
            "cannot connect: the port is not a number. In a URL, a password has %2F for /, %40 for "
            "@, %3A for : and %25 for %"};
    }
    Connection connection;
    std::vector<const char*> keywords(kKeywords.begin(), kKeywords.end());
    std::vector<const char*> values(kValues.begin(), kValues.end());
    // Behind the conninfo, which cannot override it: brokers are told UTF-8.
    keywords.insert(keywords.end(), {"dbname", "client_encoding", nullptr});
    values.insert(values.end(), {conninfo.c_str(), "UTF8", nullptr});
    connection.connection_.reset(PQconnectdbParams(keywords.data(), values.data(), 1));
    if (PQstatus(connection.get()) != CONNECTION_OK) {
        const std::string text = "cannot connect: " + one_line(PQerrorMessage(connection.get()));
        return Error{remedy_of_refusal(connection.get()), text};
    }
    PQsetNoticeProcessor(
        connection.get(), [](void*, const char*) {}, nullptr
    );
    // Asked for UTF-8, the server would refuse to hand out a text that is none, and everything that
    // is claimed with it.
    if (connection.keeps_any_bytes()) PQsetClientEncoding(connection.get(), "SQL_ASCII");
    const Result<Rows> pid = connection.run("select pg_backend_pid()");
    if (!pid) return pid.error();
    connection.pooled_ = pid->integer(0, 0) != PQbackendPID(connection.get());
    if (connection.is_pooled()) return connection;
    std::vector<const char*> settings = {kServerSide};
    if (path == Path::catalog) settings.push_back(kOnlyCatalog);
    if (PQserverVersion(connection.get()) >= kIdleTimeoutSince) settings.push_back(kMayIdle);
    for (const char* setting : settings) {
        if (const Result<Rows> set = connection.run(setting); !set) return set.error();
    }
    return connection;
}

Result<Rows> Connection::run(const std::string& sql, const Parameters& parameters) const {
    const std::vector<const char*> pointers = parameters.pointers();
    Rows rows(PQexecParams(
        get(), sql.c_str(), parameters.count(), nullptr, pointers.data(), nullptr, nullptr, 1
    ));
    const ExecStatusType status = PQresultStatus(rows.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return rows;
    return error_of(get(), rows.get());
}

Result<void> Connection::run_script(const std::string& sql) const {
    const Rows rows(PQexec(get(), sql.c_str()));
    const ExecStatusType status = PQresultStatus(rows.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return {};
    return error_of(get(), rows.get());
}

std::string_view Connection::server_encoding() const {
    const char* encoding = PQparameterStatus(get(), "server_encoding");
    return encoding == nullptr ? "UTF8" : encoding;
}

std::string Connection::storable(std::string_view text) const {
    std::string result(text);
    if (server_encoding() == "UTF8") return result;
    for (char& c : result) {
        if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
    return result;
}

Error Connection::error() const {
    return error_of(get(), nullptr);
}

}  // namespace outrider::postgres
