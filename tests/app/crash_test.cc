// Services killed before, after and in the middle of their commits, in every style: an order has
// its message and a message has its order, always.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/sqlite_side.h"
#include "postgres/log.h"
#include "support/environment.h"
#include "support/sqlite_session.h"

namespace outrider {
namespace {

// The other process. Killed with the test, whatever happens.
class Child {
public:
    Child(const std::string& target, const std::string& style, const std::string& moment) {
        const pid_t parent = ::getpid();
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        ::execl(CRASH_WRITER, CRASH_WRITER, target.c_str(), style.c_str(), moment.c_str(), nullptr);
        ::_exit(127);
    }
    ~Child() { kill(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        (void)wait();
    }

    // Whether it ended by SIGKILL.
    bool wait() {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }

    [[nodiscard]] bool is_alive() {
        if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
        return pid_ > 0;
    }

private:
    pid_t pid_ = -1;
};

// A database, seen from outside: how many orders there are, how many stand alone, and how many
// messages there are too many. Each is one statement: a server finishes the commit of a service
// that was killed behind it, so two counts in two statements may differ by that commit.
class Shop {
public:
    virtual ~Shop() = default;
    [[nodiscard]] virtual long orders() const = 0;
    [[nodiscard]] virtual long messages() const = 0;
    [[nodiscard]] virtual long alone() const = 0;
    [[nodiscard]] virtual long surplus() const = 0;
    [[nodiscard]] virtual std::string target() const = 0;
};

class SqliteShop final : public Shop {
public:
    SqliteShop() { (void)side_.other("create table orders (id text primary key)"); }
    [[nodiscard]] long orders() const override { return count("select count(*) from orders"); }
    [[nodiscard]] long messages() const override {
        return count("select count(*) from outrider_message");
    }
    [[nodiscard]] long alone() const override {
        return count(
            "select (select count(*) from orders where id not in (select cast(payload as text) "
            "from outrider_message)) + (select count(*) from outrider_message where cast(payload "
            "as text) not in (select id from orders))"
        );
    }
    [[nodiscard]] long surplus() const override {
        return count(
            "select (select count(*) from outrider_message) - (select count(*) from orders)"
        );
    }
    [[nodiscard]] std::string target() const override { return "sqlite:" + side_.path(); }

private:
    [[nodiscard]] long count(const std::string& sql) const { return std::stol(side_.other(sql)); }
    mutable SqliteSide side_;
};

class PostgresShop final : public Shop {
public:
    explicit PostgresShop(std::string client) : client_(std::move(client)) {
        session_.run("create table orders (id text primary key)");
    }
    [[nodiscard]] long orders() const override { return count("select count(*) from orders"); }
    [[nodiscard]] long messages() const override {
        return count("select count(*) from outrider.message");
    }
    [[nodiscard]] long alone() const override {
        return count(
            "select count(*) from orders o full join outrider.message m on "
            "convert_from(m.payload, 'UTF8') = o.id where o.id is null or m.id is null"
        );
    }
    [[nodiscard]] long surplus() const override {
        return count(
            "select (select count(*) from outrider.message) - (select count(*) from orders)"
        );
    }
    [[nodiscard]] std::string target() const override { return client_ + ":" + log_.conninfo; }

private:
    [[nodiscard]] long count(const std::string& sql) const {
        return std::stol(session_.value(sql));
    }
    std::string client_;
    PostgresLog log_;
    PostgresSession session_{log_.conninfo};
};

std::unique_ptr<Shop> open_shop(const std::string& client) {
    if (client == "sqlite") return std::make_unique<SqliteShop>();
    return std::make_unique<PostgresShop>(client);
}

long kills() {
    return static_cast<long>(std::max<std::uint64_t>(number_from("KILLS", 20) / 4, 1));
}

bool reaches(const Shop& shop, long orders, Child& child) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (shop.orders() < orders) {
        if (std::chrono::steady_clock::now() > deadline || !child.is_alive()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

using Case = std::tuple<std::string, std::string>;  // client, style

class Crash : public ::testing::TestWithParam<Case> {
protected:
    std::unique_ptr<Shop> shop = open_shop(std::get<0>(GetParam()));
    std::string style = std::get<1>(GetParam());
};

TEST_P(Crash, BeforeTheCommitLeavesNothing) {
    EXPECT_TRUE(Child(shop->target(), style, "before").wait());
    EXPECT_EQ(shop->orders(), 0);
    EXPECT_EQ(shop->messages(), 0);
}

TEST_P(Crash, AfterTheCommitLeavesBoth) {
    EXPECT_TRUE(Child(shop->target(), style, "after").wait());
    EXPECT_EQ(shop->orders(), 1);
    EXPECT_EQ(shop->messages(), 1);
    EXPECT_EQ(shop->alone(), 0);
}

TEST_P(Crash, AtAnyMomentLeavesBothOrNeither) {
    std::mt19937 dice(std::random_device{}());
    const long times = kills();
    for (long i = 0; i < times; ++i) {
        Child child(shop->target(), style, "loop");
        ASSERT_TRUE(reaches(*shop, shop->orders() + 3, child));
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % 5000));
        child.kill();
        ASSERT_EQ(shop->alone(), 0);
    }
    EXPECT_GE(shop->orders(), 3 * times);
    EXPECT_EQ(shop->surplus(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Styles,
    Crash,
    ::testing::Combine(
        ::testing::Values("sqlite", "libpq", "pqxx"),
        ::testing::Values("explicit", "unit", "transactional", "events")
    ),
    [](const ::testing::TestParamInfo<Case>& named) {
        return std::get<0>(named.param) + "_" + std::get<1>(named.param);
    }
);

}  // namespace
}  // namespace outrider
