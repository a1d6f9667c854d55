#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hiredis/hiredis.h>

#include "brokers/redis/commands.h"
#include "brokers/redis/options.h"
#include "brokers/redis/server_info.h"
#include "core/descriptor.h"
#include "core/result.h"

namespace outrider::redis {

struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

// The text of a reply that has one.
[[nodiscard]] std::string_view text_of(const redisReply& reply);
[[nodiscard]] bool is_error(const redisReply& reply);

// One connection, logged in, with its database chosen. hiredis reads the replies; the socket is
// ours, so that every wait has the caller's deadline. After an error it is of no further use. One
// thread at a time.
class Connection {
public:
    // Connects and logs in. An error when the server is away, rejects the login or fails
    // check_server(); its text never contains the password.
    [[nodiscard]] static Result<Connection> open(const RedisOptions& options, Deadline deadline);

    [[nodiscard]] Result<void> send(std::string_view bytes, Deadline deadline);

    // The next reply, an error reply included.
    [[nodiscard]] Result<Reply> receive(Deadline deadline);

    // Asks the server again what check_server() wants to know.
    [[nodiscard]] Result<void> check(const RedisOptions& options, Deadline deadline);

    // What the server says of itself, with how it writes to disk.
    [[nodiscard]] Result<ServerInfo> describe(const RedisOptions& options, Deadline deadline);

    // The other side has closed it since it was last used.
    [[nodiscard]] bool is_stale() const;

    // The largest value that the server takes. 0: it did not say.
    [[nodiscard]] std::size_t value_bytes_max() const { return value_bytes_max_; }

private:
    struct FreeReader {
        void operator()(redisReader* reader) const { redisReaderFree(reader); }
    };

    explicit Connection(Descriptor socket);

    [[nodiscard]] Result<void> log_in(const RedisOptions& options, Deadline deadline);
    [[nodiscard]] Result<void> read_info(const RedisOptions& options, Deadline deadline);
    void read_limit(const redisReply& reply);
    [[nodiscard]] Result<void> fill(Deadline deadline);

    Descriptor socket_;
    std::unique_ptr<redisReader, FreeReader> reader_;
    std::size_t value_bytes_max_ = 0;
};

}  // namespace outrider::redis
