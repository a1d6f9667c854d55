#include "brokers/redis/connection.h"

#include <array>
#include <cerrno>
#include <charconv>

#include <sys/socket.h>

#include "brokers/redis/server_info.h"
#include "brokers/wire/socket.h"
#include "core/lines.h"

namespace outrider::redis {
namespace {

// One command of a handshake whose reply must not be an error.
Result<void> expect_good(Result<Reply> reply, const RedisOptions& options) {
    if (!reply) return std::move(reply).error();
    if (!is_error(**reply)) return {};
    // Old servers repeat the arguments of a command they do not know, AUTH among them.
    const std::string text(text_of(**reply));
    return Error{Remedy::wait, "Redis said: " + wire::without_secret(text, options.password)};
}

bool has_login(const RedisOptions& options) {
    return !options.user.empty() || !options.password.empty();
}

void add_login(Commands& commands, const RedisOptions& options) {
    if (options.user.empty()) {
        commands.command({"AUTH", options.password});
    } else {
        commands.command({"AUTH", options.user, options.password});
    }
}

}  // namespace

std::string_view text_of(const redisReply& reply) {
    return reply.str == nullptr ? std::string_view() : std::string_view(reply.str, reply.len);
}

bool is_error(const redisReply& reply) {
    return reply.type == REDIS_REPLY_ERROR;
}

Connection::Connection(Descriptor socket)
    : socket_(std::move(socket)),
      reader_(redisReaderCreate()) {
}

Result<Connection> Connection::open(const RedisOptions& options, Deadline deadline) {
    Result<Descriptor> socket = wire::dial(options.endpoint, deadline);
    if (!socket) return socket.error();
    Connection connection(std::move(socket).value());
    if (Result<void> done = connection.log_in(options, deadline); !done) return done.error();
    return connection;
}

// Everything in one exchange.
Result<void> Connection::log_in(const RedisOptions& options, Deadline deadline) {
    Commands commands;
    if (has_login(options)) add_login(commands, options);
    commands.command({"SELECT", std::to_string(options.database)});
    commands.command({"INFO"});
    commands.command({"CONFIG", "GET", "proto-max-bulk-len"});
    if (Result<void> sent = send(commands.bytes(), deadline); !sent) return sent;
    if (has_login(options)) {
        if (Result<void> in = expect_good(receive(deadline), options); !in) return in;
    }
    if (Result<void> in = expect_good(receive(deadline), options); !in) return in;
    if (Result<void> in = read_info(options, deadline); !in) return in;
    const Result<Reply> limit = receive(deadline);
    if (!limit) return limit.error();
    read_limit(**limit);
    return {};
}

// A user who may not ask is let in: what we do not know objects to nothing.
Result<void> Connection::read_info(const RedisOptions& options, Deadline deadline) {
    const Result<Reply> reply = receive(deadline);
    if (!reply) return reply.error();
    if (is_error(**reply)) return {};
    return check_server(parse_info(text_of(**reply)), options);
}

void Connection::read_limit(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return;
    const std::string_view text = text_of(*reply.element[1]);
    std::from_chars(text.data(), text.data() + text.size(), value_bytes_max_);
}

Result<void> Connection::check(const RedisOptions& options, Deadline deadline) {
    Commands commands;
    commands.command({"PING"});
    commands.command({"INFO"});
    if (Result<void> sent = send(commands.bytes(), deadline); !sent) return sent;
    if (Result<void> pong = expect_good(receive(deadline), options); !pong) return pong;
    return read_info(options, deadline);
}

Result<ServerInfo> Connection::describe(const RedisOptions& options, Deadline deadline) {
    Commands commands;
    commands.command({"INFO"});
    constexpr std::array<std::string_view, 3> kSettings = {"appendonly", "appendfsync", "save"};
    for (const std::string_view name : kSettings) commands.command({"CONFIG", "GET", name});
    if (Result<void> sent = send(commands.bytes(), deadline); !sent) return sent.error();
    const Result<Reply> reply = receive(deadline);
    if (!reply) return reply.error();
    ServerInfo info;
    if (!is_error(**reply)) info = parse_info(text_of(**reply));
    std::array<std::optional<std::string>, kSettings.size()> told;
    for (std::optional<std::string>& value : told) {
        const Result<Reply> setting = receive(deadline);
        if (!setting) return setting.error();
        const redisReply& found = **setting;
        const bool is_told = found.type == REDIS_REPLY_ARRAY && found.elements == 2;
        if (is_told) value = std::string(text_of(*found.element[1]));
    }
    info.appendonly = told[0].value_or("");
    info.appendfsync = told[1].value_or("");
    info.save = told[2];
    if (Result<void> good = check_server(info, options); !good) return good.error();
    return info;
}

Result<void> Connection::send(std::string_view bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (Result<void> ready = wire::wait_ready(socket_.get(), POLLOUT, deadline); !ready) {
                return ready;
            }
        } else if (errno == EPIPE || errno == ECONNRESET) {
            // What the server said before it hung up is the better reason: let receive() find it.
            return {};
        } else if (errno != EINTR) {
            return system_error("send to Redis", errno);
        }
    }
    return {};
}

Result<Reply> Connection::receive(Deadline deadline) {
    while (true) {
        void* found = nullptr;
        if (redisReaderGetReply(reader_.get(), &found) != REDIS_OK) {
            return Error{Remedy::wait, std::string("no Redis: ") + reader_->errstr};
        }
        if (found != nullptr) return Reply(static_cast<redisReply*>(found));
        if (Result<void> more = fill(deadline); !more) return more.error();
    }
}

Result<void> Connection::fill(Deadline deadline) {
    // Small on purpose: the reader moves what is left of its buffer with every kilobyte it has
    // used.
    std::array<char, 16U << 10U> block{};
    const ssize_t got = ::recv(socket_.get(), block.data(), block.size(), 0);
    if (got > 0) {
        redisReaderFeed(reader_.get(), block.data(), static_cast<std::size_t>(got));
        return {};
    }
    if (got == 0) return Error{Remedy::wait, "Redis closed the connection"};
    if (errno == EINTR) return {};
    if (errno != EAGAIN && errno != EWOULDBLOCK) return system_error("read from Redis", errno);
    return wire::wait_ready(socket_.get(), POLLIN, deadline);
}

bool Connection::is_stale() const {
    return wire::is_stale(socket_.get());
}

}  // namespace outrider::redis
