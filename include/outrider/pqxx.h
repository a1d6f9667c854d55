#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "outrider/error.h"
#include "outrider/postgres_enqueue.h"
#include "outrider/postgres_unit.h"

// For applications with libpqxx (6.4, as Debian 12 has it). Header-only: link outrider::postgres
// and your libpqxx. The same three styles:
//
//     pqxx::work tx(connection);
//     tx.exec("insert into orders ...");
//     outrider::enqueue(tx, message);
//     tx.commit();
//
//     auto unit = outrider::begin(connection);      // unit-> and *unit are a pqxx::work
//     unit->exec("insert into orders ...");
//     unit.enqueue(message);
//     unit.commit();
//
//     outrider::transactional(connection, [&](auto& tx) {
//         tx->exec("insert into orders ...");
//         tx.enqueue(message);
//     });
namespace outrider {

namespace postgres {

// What libpqxx threw, as what the application can do about it. For enqueue and commit only: what
// your own statements throw stays as it is.
[[noreturn]] inline void rethrow_pqxx() {
    try {
        throw;
    } catch (const ::pqxx::sql_error& error) {
        throw Failure(error_for(error.sqlstate(), error.what()));
    } catch (const ::pqxx::transaction_rollback& error) {
        throw Failure({Remedy::yield, error.what()});
    } catch (const ::pqxx::broken_connection& error) {
        throw Failure({Remedy::wait, error.what()});
    } catch (const ::pqxx::usage_error& error) {
        throw Failure(
            {Remedy::correct,
             std::string("no transaction is open that could take the message: ") + error.what()}
        );
    }
}

// libpqxx 6.4 begins a subtransaction with its first exec(), and forgets to do so for a statement
// with parameters: the message would lie before its savepoint, and survive its rollback.
inline void begin_before_parameters(::pqxx::transaction_base& tx) {
    if (dynamic_cast<const ::pqxx::subtransaction*>(&tx) != nullptr) tx.exec("");
}

inline ::pqxx::result execute(::pqxx::transaction_base& tx, const EnqueueStatement& statement) {
    try {
        begin_before_parameters(tx);
        const std::vector<const char*> values = statement.values();
        return tx.exec_params(statement.text, ::pqxx::prepare::make_dynamic_params(values));
    } catch (...) {
        rethrow_pqxx();
    }
}

// A connection that does not take UTF-8 would store other letters. (libpqxx keeps to itself what
// the server has said of its own encoding.)
inline void require_texts(::pqxx::transaction_base& tx, std::span<const Message> messages) {
    if (!tx.conn().is_open()) return;
    const std::string client = tx.conn().get_client_encoding();
    if (client == "UTF8") return;
    const ::pqxx::result server = tx.exec("show server_encoding");
    if (!takes_utf8(client, server[0][0].c_str())) require_ascii(messages);
}

inline void require_real_transaction(const ::pqxx::transaction_base& tx) {
    if (dynamic_cast<const ::pqxx::dbtransaction*>(&tx) != nullptr) return;
    throw Failure(
        {Remedy::correct,
         "a pqxx::nontransaction is no transaction: its statements commit one by one. Use "
         "pqxx::work"}
    );
}

// The open transaction of a unit. Work: pqxx::work or another class of libpqxx that begins and
// commits.
template <class Work>
class PqxxSession final : public UnitSession {
public:
    PqxxSession(::pqxx::connection_base& connection, PostgresEnqueueOptions options)
        : connection_(connection),
          options_(std::move(options)),
          work_(connection) {}

    [[nodiscard]] Work* work() { return &work_; }

    void commit(std::span<const Message> messages) override {
        require_texts(work_, messages);
        const auto write = [this](const EnqueueStatement& part) { execute(work_, part); };
        const auto last = write_all_but_last(messages, options_, write);
        const ::pqxx::result row = execute(work_, last_statement(last, options_));
        const auto transaction_id = row[0][0].is_null() ? "" : row[0][0].template as<std::string>();
        try {
            work_.commit();
        } catch (const ::pqxx::in_doubt_error& error) {
            throw_unanswered(transaction_id, messages, options_, error.what());
        } catch (const std::exception& error) {
            // An error on a connection that still stands was said by the server: rolled back.
            if (connection_.is_open()) rethrow_pqxx();
            throw_unanswered(transaction_id, messages, options_, error.what());
        }
    }

    void rollback() noexcept override {
        try {
            work_.abort();
        } catch (...) {  // the connection is gone, and the transaction with it
        }
    }

    [[nodiscard]] bool may_repeat(const std::exception& error) const noexcept override {
        if (dynamic_cast<const ::pqxx::statement_completion_unknown*>(&error) != nullptr) {
            return false;
        }
        if (dynamic_cast<const ::pqxx::transaction_rollback*>(&error) != nullptr) return true;
        const auto* failure = dynamic_cast<const Failure*>(&error);
        return failure != nullptr && failure->remedy() == Remedy::yield;
    }

private:
    ::pqxx::connection_base& connection_;
    PostgresEnqueueOptions options_;
    Work work_;
};

}  // namespace postgres

// Writes the message inside the transaction, in one round trip (two in a pqxx::subtransaction), and
// returns its id. Throws Failure as for libpq (postgres.h): if the transaction is over, if the
// message breaks a limit, or with what the server said.
inline MessageId enqueue(
    ::pqxx::transaction_base& tx,
    const Message& message,
    const postgres::PostgresEnqueueOptions& options = {}
) {
    postgres::require_real_transaction(tx);
    postgres::require_texts(tx, std::span(&message, 1));
    const postgres::EnqueueStatement statement = postgres::enqueue_statement(message, options);
    postgres::execute(tx, statement);
    return statement.ids.front();
}

// The same for many messages, in their order: all of them or none.
inline std::vector<MessageId> enqueue(
    ::pqxx::transaction_base& tx,
    std::span<const Message> messages,
    const postgres::PostgresEnqueueOptions& options = {}
) {
    postgres::require_real_transaction(tx);
    if (messages.empty()) return {};
    postgres::require_texts(tx, messages);
    std::vector<MessageId> ids;
    const auto write = [&](const postgres::EnqueueStatement& part) {
        postgres::execute(tx, part);
        ids.insert(ids.end(), part.ids.begin(), part.ids.end());
    };
    const auto last = postgres::write_all_but_last(messages, options, write);
    write(postgres::enqueue_statement(last, options));
    return ids;
}

// The same for an event of your own type; see event.h.
template <Event E>
MessageId enqueue(
    ::pqxx::transaction_base& tx,
    const E& event,
    const postgres::PostgresEnqueueOptions& options = {}
) {
    return enqueue(tx, to_message(event), options);
}

// A nontransaction commits every statement by itself, so a message in it is alone.
MessageId enqueue(::pqxx::nontransaction& tx, const Message& message) = delete;

// Begins a unit of work. For another isolation level, name the class:
// begin<pqxx::transaction<pqxx::serializable>>(connection). Throws Failure (correct) if the
// connection has a transaction already; libpqxx's own exceptions if it cannot connect.
template <class Work = ::pqxx::work>
[[nodiscard]] UnitOfWork<Work> begin(
    ::pqxx::connection_base& connection,
    const postgres::UnitOptions& options = {}
) {
    try {
        auto session = std::make_unique<postgres::PqxxSession<Work>>(connection, options);
        Work* work = session->work();
        return UnitOfWork<Work>(std::move(session), work, options);
    } catch (const ::pqxx::usage_error& error) {
        throw Failure(
            {Remedy::correct,
             std::string("a transaction is open on this connection already, and units of work do "
                         "not nest: "
             ) + error.what()}
        );
    }
}

// Begins, runs, commits; again on serialization failure and deadlock. See transactional.h.
// `options.isolation` does not count here; name the class instead, as for begin().
template <class Work = ::pqxx::work, class Body>
auto transactional(
    ::pqxx::connection_base& connection,
    const Body& body,
    const postgres::UnitOptions& options = {}
) {
    return run_transactional(
        options.repeat, [&] { return begin<Work>(connection, options); }, body
    );
}

// What became of a transaction whose commit was not answered; `connection` is a new one to the same
// server.
[[nodiscard]] inline CommitOutcome resolve(
    ::pqxx::connection_base& connection,
    const CommitUnknown& unknown
) {
    if (unknown.question().empty()) return CommitOutcome::unknown;
    try {
        ::pqxx::work tx(connection);
        const ::pqxx::result row = tx.exec(unknown.question());
        return postgres::outcome_of(row[0][0].is_null() ? "" : row[0][0].c_str());
    } catch (const ::pqxx::sql_error& error) {
        if (postgres::is_unknowable(error.sqlstate())) return CommitOutcome::unknown;
        throw;
    }
}

}  // namespace outrider
