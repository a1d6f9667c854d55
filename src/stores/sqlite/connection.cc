#include "stores/sqlite/connection.h"

#include <array>
#include <filesystem>

#include <sys/vfs.h>

#include "stores/sqlite/migrate.h"

namespace outrider::sqlite {
namespace {

Remedy remedy_of(int code) {
    switch (code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return Remedy::call;
        case SQLITE_ERROR:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
        case SQLITE_PERM:
        case SQLITE_AUTH:
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_TOOBIG:
            return Remedy::correct;
        default:
            return Remedy::wait;
    }
}

// WAL mode shares memory between processes and relies on locks, neither of which a network file
// system gives.
bool is_on_network(const std::string& path) {
    constexpr std::array<long, 7> kNetworkFileSystems = {
        0x6969,      // NFS
        0x517b,      // SMB
        0xff534d42,  // CIFS
        0xfe534d42,  // SMB2
        0x5346414f,  // AFS
        0x00c36400,  // Ceph
        0x01021997,  // 9P
    };
    struct statfs info {};
    if (::statfs(path.c_str(), &info) != 0) return false;
    for (const long type : kNetworkFileSystems) {
        if (static_cast<std::uint32_t>(info.f_type) == static_cast<std::uint32_t>(type))
            return true;
    }
    return false;
}

// SQLite takes it for a URI, and opens a file of another name than our lock would stand beside.
Result<void> check_name(const std::string& path) {
    if (!path.starts_with("file:")) return {};
    return Error{
        Remedy::correct,
        "'" + path +
            "' is a URI, and a database has one name here: write its path without 'file:'"};
}

Result<std::string> read_one(const Connection& connection, std::string_view sql) {
    Result<Statement> statement = connection.prepare(sql);
    if (!statement) return statement.error();
    const Result<bool> row = statement->step();
    if (!row) return row.error();
    return std::string(*row ? statement->text(0) : std::string_view{});
}

Result<void> expect(
    const Connection& connection,
    std::string_view pragma,
    std::string_view wanted
) {
    Result<std::string> got = read_one(connection, pragma);
    if (!got) return got.error();
    if (*got == wanted) return {};
    return Error{
        Remedy::correct,
        "'" + std::string(pragma) + "' is '" + *got + "' and must be '" + std::string(wanted) +
            "': is the database on a file system without shared memory?"};
}

Result<void> set_up(const Connection& connection) {
    if (auto wal = expect(connection, "pragma journal_mode = wal", "wal"); !wal) return wal;
    if (auto set = connection.run("pragma synchronous = full"); !set) return set;
    return expect(connection, "pragma synchronous", "2");
}

Result<void> check_version(int version, const std::string& path) {
    if (version == newest_version()) return {};
    if (version > newest_version()) {
        return Error{
            Remedy::upgrade,
            "the tables in '" + path + "' have version " + std::to_string(version) +
                ", this build knows " + std::to_string(newest_version()) +
                ": use a newer outrider"};
    }
    return Error{
        Remedy::correct,
        "the database '" + path +
            "' has no Outrider tables, or old ones: run 'outrider migrate up'"};
}

}  // namespace

Error error_of(sqlite3* database, std::string_view what) {
    const int code = sqlite3_extended_errcode(database);
    return {remedy_of(code), std::string(what) + ": " + sqlite3_errmsg(database), code};
}

Result<Statement> Statement::prepare(sqlite3* database, std::string_view sql) {
    Statement statement;
    sqlite3_stmt* raw = nullptr;
    const int code =
        sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    statement.statement_.reset(raw);
    if (code != SQLITE_OK) return error_of(database, "SQLite");
    return statement;
}

Statement& Statement::bind(int place, std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), place, value);
    return *this;
}

Statement& Statement::bind(int place, std::string_view text) {
    // A null pointer would bind NULL, also for the empty text.
    const char* data = text.empty() ? "" : text.data();
    sqlite3_bind_text64(statement_.get(), place, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(int place, std::optional<std::int64_t> value) {
    return value ? bind(place, *value) : bind_null(place);
}

Statement& Statement::bind_blob(int place, std::string_view bytes) {
    const char* data = bytes.empty() ? "" : bytes.data();
    sqlite3_bind_blob64(statement_.get(), place, data, bytes.size(), SQLITE_STATIC);
    return *this;
}

Statement& Statement::bind_null(int place) {
    sqlite3_bind_null(statement_.get(), place);
    return *this;
}

Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    Error error = error_of(sqlite3_db_handle(statement_.get()), "SQLite");
    reset();
    return error;
}

Result<std::int64_t> Statement::run() {
    const Result<bool> stepped = step();
    if (!stepped) return stepped.error();
    reset();
    return sqlite3_changes64(sqlite3_db_handle(statement_.get()));
}

void Statement::reset() {
    sqlite3_reset(statement_.get());
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::optional<std::int64_t> Statement::maybe_integer(int column) const {
    if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
    return integer(column);
}

std::string_view Statement::text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    if (data == nullptr) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::bytes(int column) const {
    // Text goes through text(), since a database in UTF-16 would hand out that otherwise.
    if (sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT) return text(column);
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    if (data == nullptr) return {};
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Connection> Connection::open(
    const std::string& path,
    Schema schema,
    std::chrono::milliseconds patience
) {
    if (Result<void> named = check_name(path); !named) return named.error();
    const std::string folder = std::filesystem::path(path).parent_path().string();
    if (is_on_network(folder.empty() ? "." : folder)) {
        return Error{
            Remedy::correct,
            "'" + path + "' is on a network file system, where SQLite's locks cannot be trusted: " +
                "move the database to a local disk"};
    }
    Connection connection;
    sqlite3* raw = nullptr;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (schema == Schema::created) flags |= SQLITE_OPEN_CREATE;
    const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
    connection.database_.reset(raw);
    if (code != SQLITE_OK) return error_of(raw, "cannot open '" + path + "'");
    sqlite3_busy_timeout(raw, static_cast<int>(patience.count()));
    sqlite3_extended_result_codes(raw, 1);
    const Result<int> version = installed_version(raw);
    if (!version) return version.error();
    if (schema == Schema::needed) {
        if (Result<void> known = check_version(*version, path); !known) return known.error();
    }
    // A database that is not ours yet keeps its mode until it is migrated.
    if (*version == 0) return connection;
    if (Result<void> ready = set_up(connection); !ready) return ready.error();
    return connection;
}

Result<void> Connection::check_in_place() const {
    int moved = 0;
    sqlite3_file_control(get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved == 0) return {};
    return Error{
        Remedy::wait,
        "the database '" + std::string(sqlite3_db_filename(get(), "main")) +
            "' was replaced or moved away, and is opened anew"};
}

Result<void> Connection::run(const char* sql) const {
    if (sqlite3_exec(get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return error_of(get(), "SQLite");
}

Result<Transaction> Transaction::begin(const Connection& connection, const char* how) {
    if (Result<void> begun = connection.run(how); !begun) return begun.error();
    return Transaction(connection);
}

Transaction::~Transaction() {
    if (connection_ == nullptr) return;
    // After some errors SQLite has rolled back by itself.
    if (sqlite3_get_autocommit(connection_->get()) == 0) {
        [[maybe_unused]] const Result<void> rolled_back = connection_->run("rollback");
    }
}

Result<void> Transaction::commit() {
    Result<void> committed = connection_->run("commit");
    if (committed) connection_ = nullptr;
    return committed;
}

}  // namespace outrider::sqlite
