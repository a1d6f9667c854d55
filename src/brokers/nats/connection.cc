#include "brokers/nats/connection.h"

#include <algorithm>
#include <array>

#include <sys/socket.h>

#include "brokers/wire/files.h"
#include "brokers/wire/socket.h"
#include "core/clock.h"

namespace outrider::nats {
namespace {

using Options = std::unique_ptr<natsOptions, Destroy<natsOptions, natsOptions_Destroy>>;

// The longest that one write may block when the server reads nothing any more. The library knows no
// deadline per call, so this is how far beyond its deadline a publish may go at worst.
constexpr std::int64_t kWriteMillis = 2000;
constexpr int kBufferBytes = 128 << 10;

// Without a handler the library would print to standard error.
void ignore_error(natsConnection*, natsSubscription*, natsStatus, void*) {
}

// The first status that is not good.
class Status {
public:
    Status& operator<<(natsStatus next) {
        if (first_ == NATS_OK) first_ = next;
        return *this;
    }
    [[nodiscard]] natsStatus get() const { return first_; }

private:
    natsStatus first_ = NATS_OK;
};

void set_login(Status& status, natsOptions* options, const NatsOptions& from) {
    if (!from.user.empty()) {
        status << natsOptions_SetUserInfo(options, from.user.c_str(), from.password.c_str());
    }
    if (!from.token.empty()) status << natsOptions_SetToken(options, from.token.c_str());
    if (!from.creds.empty()) {
        status << natsOptions_SetUserCredentialsFromFiles(options, from.creds.c_str(), nullptr);
    }
}

void set_tls(Status& status, natsOptions* options, const NatsOptions& from, const char* host) {
    if (!from.tls) return;
    status << natsOptions_SetSecure(options, true);
    // The library verifies the name only if it is told one.
    status << natsOptions_SetExpectedHostname(
        options, from.tls_name.empty() ? host : from.tls_name.c_str()
    );
    if (!from.tls_ca.empty()) {
        status << natsOptions_LoadCATrustedCertificates(options, from.tls_ca.c_str());
    }
    if (!from.tls_cert.empty()) {
        status << natsOptions_LoadCertificatesChain(
            options, from.tls_cert.c_str(), from.tls_key.c_str()
        );
    }
}

Result<Options> make_options(const NatsOptions& from, const wire::Endpoint& endpoint, int millis) {
    natsOptions* made = nullptr;
    Status status;
    status << natsOptions_Create(&made);
    Options options(made);
    const std::string url = "nats://" + wire::to_string(endpoint);
    status << natsOptions_SetURL(made, url.c_str());
    status << natsOptions_SetName(made, "outrider");
    status << natsOptions_SetTimeout(made, std::max(millis, 1));
    status << natsOptions_SetAllowReconnect(made, false);
    status << natsOptions_SetWriteDeadline(made, kWriteMillis);
    status << natsOptions_SetIOBufSize(made, kBufferBytes);
    status << natsOptions_SetErrorHandler(made, ignore_error, nullptr);
    set_login(status, made, from);
    set_tls(status, made, from, endpoint.host.c_str());
    if (status.get() != NATS_OK) return nats_error("cannot set up NATS", status.get());
    return options;
}

// The library shakes hands for TLS without any deadline. A server greets every client in plain text
// first, so one that is frozen is found out here.
Result<void> await_greeting(const wire::Endpoint& endpoint, Deadline deadline) {
    const Result<Descriptor> socket = wire::dial(endpoint, deadline);
    if (!socket) return socket.error();
    return wire::wait_ready(socket->get(), POLLIN, deadline);
}

// The library's details begin with a place in its own sources, "(conn.c:2088): ", which helps
// nobody.
std::string_view without_place(std::string_view details) {
    const std::size_t end = details.starts_with('(') ? details.find("): ") : std::string_view::npos;
    const std::string_view place = details.substr(0, end);
    const bool is_place =
        end != std::string_view::npos && place.find(".c:") != std::string_view::npos;
    return is_place ? details.substr(end + 3) : details;
}

}  // namespace

Error nats_error(std::string_view what, natsStatus status) {
    const std::string_view said = natsStatus_GetText(status);
    natsStatus last = NATS_OK;
    const char* details = nats_GetLastError(&last);
    const std::string_view more =
        details != nullptr && last == status ? without_place(details) : std::string_view();
    std::string text = std::string(what) + ": " + std::string(said);
    if (!more.empty() && more != said) text.append(" (").append(more).append(")");
    return Error{Remedy::wait, text, static_cast<int>(status)};
}

Connection::Connection(Handle handle, Subscription replies, std::string inbox, std::string api)
    : handle_(std::move(handle)),
      replies_(std::move(replies)),
      inbox_(std::move(inbox)),
      api_(std::move(api)) {
}

Result<Connection> Connection::open(const NatsOptions& options, Deadline deadline) {
    if (Result<void> good = wire::check_files(options); !good) return good.error();
    if (Result<void> good = wire::check_file("creds", options.creds); !good) return good.error();
    Result<Connection> opened = Error{Remedy::correct, "no server is named"};
    std::size_t left = options.endpoints.size();
    for (const wire::Endpoint& endpoint : options.endpoints) {
        const auto share = std::chrono::milliseconds(wire::millis_left(deadline)) / left--;
        opened = open_one(options, endpoint, SystemClock().now() + share);
        if (opened) break;
    }
    return opened;
}

Result<Connection> Connection::open_one(
    const NatsOptions& options,
    const wire::Endpoint& endpoint,
    Deadline deadline
) {
    const std::string what = "cannot connect to " + wire::to_string(endpoint);
    if (options.tls) {
        if (Result<void> there = await_greeting(endpoint, deadline); !there) return there.error();
    }
    const Result<Options> settings = make_options(options, endpoint, wire::millis_left(deadline));
    if (!settings) return settings.error();
    natsConnection* connected = nullptr;
    natsStatus status = natsConnection_Connect(&connected, settings->get());
    if (status == NATS_NO_SERVER) {  // the library does not say why: another try that does
        if (const Result<Descriptor> again = wire::dial(endpoint, deadline); !again) {
            return again.error();
        }
    }
    if (status != NATS_OK) return nats_error(what, status);
    Handle handle(connected);
    std::string inbox;
    Result<Subscription> replies = listen(connected, ".>", inbox);
    if (!replies) return Error{Remedy::wait, what + ": " + replies.error().text};
    Connection made(std::move(handle), std::move(replies).value(), inbox + ".", options.api);
    if (Result<void> hears = made.check_inbox(deadline); !hears) {
        return Error{hears.error().remedy, what + ": " + hears.error().text};
    }
    return made;
}

// Without an inbox every message would be silently stored, and every question silently answered.
Result<void> Connection::check_inbox(Deadline deadline) {
    if (Result<void> read = flush(deadline); !read) return read;
    const std::string text = denial();
    if (text.empty()) return {};
    return Error{
        Remedy::correct,
        "NATS said: " + text + "; the user must be allowed to subscribe to _INBOX.>"};
}

Result<Connection::Subscription> Connection::listen(
    natsConnection* connection,
    std::string_view tail,
    std::string& inbox
) {
    char* made = nullptr;
    natsStatus status = natsInbox_Create(&made);
    if (status != NATS_OK) return nats_error("no inbox", status);
    const std::unique_ptr<char, Destroy<char, natsInbox_Destroy>> owned(made);
    inbox = made;
    natsSubscription* subscribed = nullptr;
    const std::string subject = inbox + std::string(tail);
    status = natsConnection_SubscribeSync(&subscribed, connection, subject.c_str());
    if (status != NATS_OK) return nats_error("no inbox", status);
    natsSubscription_SetPendingLimits(subscribed, -1, -1);
    return Subscription(subscribed);
}

natsStatus Connection::publish(natsMsg& message) {
    return natsConnection_PublishMsg(handle_.get(), &message);
}

natsStatus Connection::ask_later(
    const std::string& question,
    const std::string& body,
    const std::string& reply
) {
    const std::string subject = api_ + "." + question;
    return natsConnection_PublishRequestString(
        handle_.get(), subject.c_str(), reply.c_str(), body.c_str()
    );
}

Result<void> Connection::flush(Deadline deadline) {
    const int millis = wire::millis_left(deadline);
    const natsStatus status =
        millis == 0 ? NATS_TIMEOUT : natsConnection_FlushTimeout(handle_.get(), millis);
    if (status == NATS_OK) return {};
    return nats_error("no answer of NATS", status);
}

Result<Connection::Found> Connection::next(Message& reply, Deadline deadline) {
    natsMsg* found = nullptr;
    const natsStatus status =
        natsSubscription_NextMsg(&found, replies_.get(), wire::millis_left(deadline));
    if (status == NATS_NO_RESPONDERS) return Found::nobody;
    if (status != NATS_OK) return nats_error("no acknowledgement of JetStream", status);
    reply.reset(found);
    return Found::reply;
}

Result<std::string> Connection::greeting(const NatsOptions& options, Deadline deadline) {
    Result<std::string> found = Error{Remedy::correct, "no server is named"};
    for (const wire::Endpoint& endpoint : options.endpoints) {
        const Result<Descriptor> socket = wire::dial(endpoint, deadline);
        if (!socket) {
            found = socket.error();
            continue;
        }
        std::string text;
        while (text.find('\n') == std::string::npos) {
            if (Result<void> ready = wire::wait_ready(socket->get(), POLLIN, deadline); !ready) {
                return ready.error();
            }
            std::array<char, 4096> block{};
            const ssize_t got = ::recv(socket->get(), block.data(), block.size(), 0);
            if (got <= 0) return Error{Remedy::wait, "NATS closed the connection"};
            text.append(block.data(), static_cast<std::size_t>(got));
        }
        return text.substr(std::min(text.find('{'), text.size()));
    }
    return found;
}

// Not the library's own request: a server that does not permit it stays silent otherwise, and the
// whole deadline would be waited out.
Result<std::string> Connection::ask(
    const std::string& question,
    const std::string& body,
    Deadline deadline
) {
    if (!has_api()) {
        return Error{Remedy::correct, "JetStream is not asked (api is empty)", NATS_NOT_PERMITTED};
    }
    std::string inbox;
    const Result<Subscription> replies = listen(handle_.get(), "", inbox);
    if (!replies) return replies.error();
    natsStatus status = ask_later(question, body, inbox);
    if (status != NATS_OK) return nats_error("cannot ask JetStream", status);
    if (Result<void> read = flush(deadline); !read) return read.error();
    const std::string subject = api_ + "." + question;
    if (const std::string text = denial(); text.find(subject) != std::string::npos) {
        return Error{Remedy::correct, "JetStream may not be asked: " + text, NATS_NOT_PERMITTED};
    }
    natsMsg* found = nullptr;
    status = natsSubscription_NextMsg(&found, replies->get(), wire::millis_left(deadline));
    if (status == NATS_NO_RESPONDERS) {
        return Error{Remedy::wait, "JetStream is off: nobody answers " + subject, status};
    }
    if (status != NATS_OK) return nats_error("no answer of JetStream", status);
    const Message reply(found);
    return std::string(
        natsMsg_GetData(found), static_cast<std::size_t>(natsMsg_GetDataLength(found))
    );
}

std::string Connection::denial() const {
    const char* text = nullptr;
    const natsStatus status = natsConnection_GetLastError(handle_.get(), &text);
    return status == NATS_NOT_PERMITTED && text != nullptr ? text : std::string();
}

bool Connection::is_closed() const {
    return natsConnection_IsClosed(handle_.get());
}

std::size_t Connection::message_bytes_max() const {
    const std::int64_t bytes = natsConnection_GetMaxPayload(handle_.get());
    return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace outrider::nats
