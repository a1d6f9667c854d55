// A service that is killed: writes an order and its message in one of the styles, for ever or until
// the moment that it was told to die at.
//
//     crash_writer sqlite:PATH | libpq:CONNINFO | pqxx:CONNINFO  explicit|unit|transactional|events
//                  loop | before | after

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include <libpq-fe.h>
#include <sqlite3.h>
#include <unistd.h>

#include "outrider/postgres_unit.h"
#include "outrider/pqxx.h"
#include "outrider/sqlite_unit.h"

namespace {

enum class Moment { loop, before, after };

struct Orders : outrider::DomainEvents {};

outrider::Message message_of(const std::string& order) {
    outrider::Message message;
    message.topic = "orders";
    message.key = "ada";
    message.payload = order;
    return message;
}

std::string insert_of(const std::string& order) {
    return "insert into orders (id) values ('" + order + "')";
}

void die_at(Moment moment, Moment now) {
    if (moment == now) ::kill(::getpid(), SIGKILL);
}

struct Libpq {
    explicit Libpq(const std::string& target) : connection(PQconnectdb(target.c_str())) {}
    PGconn* connection;

    void run(const std::string& sql) const {
        outrider::postgres::check(PQexec(connection, sql.c_str()));
    }
    void explicitly(const std::string& order, Moment moment) const {
        run("begin");
        run(insert_of(order));
        outrider::enqueue(connection, message_of(order));
        die_at(moment, Moment::before);
        run("commit");
    }
    [[nodiscard]] auto begin() const { return outrider::begin(connection); }
    template <class Work>
    void transactional(const Work& work) const {
        outrider::transactional(connection, work);
    }
    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        outrider::postgres::check(PQexec(tx.handle(), text.c_str()));
    }
};

struct Pqxx {
    explicit Pqxx(const std::string& target) : connection(target) {}
    pqxx::connection connection;

    void explicitly(const std::string& order, Moment moment) {
        pqxx::work tx(connection);
        tx.exec(insert_of(order));
        outrider::enqueue(tx, message_of(order));
        die_at(moment, Moment::before);
        tx.commit();
    }
    [[nodiscard]] auto begin() { return outrider::begin(connection); }
    template <class Work>
    void transactional(const Work& work) {
        outrider::transactional(connection, work);
    }
    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        tx->exec(text);
    }
};

struct Sqlite {
    explicit Sqlite(const std::string& target) {
        sqlite3_open(target.c_str(), &database);
        sqlite3_busy_timeout(database, 60'000);
    }
    sqlite3* database = nullptr;

    static void run(sqlite3* on, const std::string& text) {
        if (sqlite3_exec(on, text.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(on));
        }
    }
    void explicitly(const std::string& order, Moment moment) const {
        run(database, "begin immediate");
        run(database, insert_of(order));
        outrider::enqueue(database, message_of(order));
        die_at(moment, Moment::before);
        run(database, "commit");
    }
    [[nodiscard]] auto begin() const { return outrider::begin(database); }
    template <class Work>
    void transactional(const Work& work) const {
        outrider::transactional(database, work);
    }
    template <class Tx>
    static void sql(Tx& tx, const std::string& text) {
        run(tx.handle(), text);
    }
};

template <class Client>
void write(Client& client, std::string_view style, Moment moment) {
    const std::string order = outrider::MessageId::generate().to_string();
    const auto body = [&](auto& tx) {
        Client::sql(tx, insert_of(order));
        Orders entity;
        if (style == "events") {
            tx.track(entity);
            entity.record(message_of(order));
        } else {
            tx.enqueue(message_of(order));
        }
        die_at(moment, Moment::before);
    };
    if (style == "explicit") return client.explicitly(order, moment);
    if (style == "transactional") return client.transactional(body);
    auto unit = client.begin();
    body(unit);
    unit.commit();
}

template <class Client>
int run(const std::string& target, std::string_view style, Moment moment) {
    Client client(target);
    do {
        write(client, style, moment);
        die_at(moment, Moment::after);
    } while (moment == Moment::loop);
    return 1;  // it should have died
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) return 2;
    const std::string target = words[1];
    const std::string inside = target.substr(target.find(':') + 1);
    const std::string_view when = words[3];
    const Moment moment = when == "loop"     ? Moment::loop
                          : when == "before" ? Moment::before
                                             : Moment::after;
    try {
        if (target.starts_with("libpq:")) return run<Libpq>(inside, words[2], moment);
        if (target.starts_with("pqxx:")) return run<Pqxx>(inside, words[2], moment);
        return run<Sqlite>(inside, words[2], moment);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "crash_writer: %s\n", error.what());
        return 3;
    }
}
