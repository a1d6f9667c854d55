// What people do to the files of a database while a relay has it open.

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outrider/sqlite.h"
#include "outrider/sqlite_store.h"

#include "core/clock.h"
#include "core/store.h"
#include "core/store_admin.h"
#include "stores/sqlite/lock.h"
#include "stores/sqlite/waker.h"
#include "support/sqlite_session.h"
#include "support/temp_folder.h"

namespace outrider {
namespace {

class SqliteFilesTest : public ::testing::Test {
protected:
    SqliteFilesTest() { sqlite::migrate(session_.get()); }

    static Destination destination() {
        Destination destination;
        destination.name = "orders";
        destination.topics = {"orders.*"};
        return destination;
    }

    std::unique_ptr<Store> open() {
        return std::move(sqlite::open_store(path_)->open(destination())).value();
    }

    void put(const std::string& topic, const std::string& payload) const {
        session_.run(
            "insert into outrider_message(topic, key, payload) values ('" + topic + "', 'k', '" +
            payload + "')"
        );
    }

    static Batch claim(Store& store) { return std::move(store.claim({1000, 1U << 20U})).value(); }

    static Result<void> settle(Store& store, Batch batch) {
        Settlement done;
        done.fate = Fate::done;
        const std::vector<Settlement> settlements(batch.envelopes.size(), done);
        return store.settle(std::move(batch), settlements);
    }

    // Claims and settles what is there.
    static std::string deliver(Store& store) {
        Batch batch = claim(store);
        std::string payloads;
        for (const Envelope& one : batch.envelopes) payloads += std::string(one.payload) + " ";
        if (payloads.empty()) return payloads;
        EXPECT_TRUE(settle(store, std::move(batch)));
        return payloads;
    }

    // As ".backup" and ".restore" of SQLite's shell. On connections of its own: it locks
    // both, and one pair in both orders looks like a deadlock.
    static void copy(const std::string& from, const std::string& to) {
        const SqliteSession source(from);
        const SqliteSession target(to);
        sqlite3_backup* backup = sqlite3_backup_init(target.get(), "main", source.get(), "main");
        ASSERT_NE(backup, nullptr);
        EXPECT_EQ(sqlite3_backup_step(backup, -1), SQLITE_DONE);
        EXPECT_EQ(sqlite3_backup_finish(backup), SQLITE_OK);
    }

    TempFolder folder_;
    std::string path_ = folder_.file("shop.db");
    std::string backup_ = folder_.file("back.db");
    SqliteSession session_{path_};
};

TEST_F(SqliteFilesTest, ReadsARestoredLogFromItsOwnPlace) {
    const auto store = open();
    EXPECT_EQ(deliver(*store), "");
    copy(path_, backup_);
    for (int i = 0; i < 10; ++i) put("other.x", "gone");
    EXPECT_EQ(deliver(*store), "");
    copy(backup_, path_);
    for (int i = 0; i < 10; ++i) put("orders.x", std::to_string(i));
    EXPECT_EQ(deliver(*store), "0 1 2 3 4 5 6 7 8 9 ") << "the same numbers, other messages";
}

TEST_F(SqliteFilesTest, ReadsARestoredLogThatHasTheSameTurnAgain) {
    const auto store = open();
    put("orders.x", "first");
    EXPECT_EQ(deliver(*store), "first ");
    copy(path_, backup_);
    for (int i = 0; i < 10; ++i) put("orders.x", "g");
    EXPECT_EQ(deliver(*store), "g g g g g g g g g g ");
    EXPECT_EQ(deliver(*store), "");
    copy(backup_, path_);
    put("orders.x", "new");
    EXPECT_EQ(deliver(*store), "new ");
    for (int i = 0; i < 6; ++i) put("orders.x", std::to_string(i));
    EXPECT_EQ(deliver(*store), "0 1 2 3 4 5 ");
}

TEST_F(SqliteFilesTest, SettlesNothingInALogThatWasRestoredMeanwhile) {
    const auto store = open();
    EXPECT_EQ(deliver(*store), "");
    copy(path_, backup_);
    for (int i = 0; i < 3; ++i) put("orders.x", "gone");
    Batch batch = claim(*store);
    ASSERT_EQ(batch.envelopes.size(), 3U);
    copy(backup_, path_);
    for (int i = 0; i < 3; ++i) put("orders.x", std::to_string(i));
    const Result<void> settled = settle(*store, std::move(batch));
    ASSERT_FALSE(settled);
    EXPECT_EQ(settled.error().remedy, Remedy::yield);
    EXPECT_EQ(deliver(*store), "0 1 2 ");
}

// No file may become larger than this for as long as the object lives, as on a disk that is full.
class FullDisk {
public:
    explicit FullDisk(std::uintmax_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, handler_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit before_{};
    sighandler_t handler_;
};

TEST_F(SqliteFilesTest, TriesToWriteByWriting) {
    const auto store = open();
    const auto wal_bytes = [this] { return std::filesystem::file_size(path_ + "-wal"); };
    const std::uintmax_t before = wal_bytes();
    ASSERT_TRUE(store->try_writing());
    EXPECT_GT(wal_bytes(), before);
    {
        const FullDisk full(wal_bytes());
        EXPECT_FALSE(store->try_writing());
    }
    EXPECT_TRUE(store->try_writing());
}

// Whoever tries may have lost the destination to another relay meanwhile.
TEST_F(SqliteFilesTest, TriesToWriteWithoutTouchingAClaim) {
    const auto store = open();
    const auto other = open();
    put("orders.x", "1");
    const std::string rows =
        "select position || ' ' || turn || ' ' || delivered from outrider_destination";
    const std::string before = session_.value(rows);
    Batch batch = claim(*store);
    ASSERT_TRUE(other->try_writing());
    EXPECT_EQ(session_.value(rows), before);
    EXPECT_TRUE(settle(*store, std::move(batch)));
}

TEST_F(SqliteFilesTest, RefusesAUriWhichWouldBeASecondNameOfADatabase) {
    const auto driver = sqlite::open_store("file:" + path_);
    const auto store = driver->open(destination());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().remedy, Remedy::correct);
    EXPECT_NE(store.error().text.find("without 'file:'"), std::string::npos) << store.error().text;
    EXPECT_FALSE(driver->open_admin(StoreDriver::IfMissing::create));
}

TEST_F(SqliteFilesTest, LocksAgainWhenTheLockFileWasRemoved) {
    sqlite::DestinationLock first(path_, 1);
    ASSERT_TRUE(*first.take());
    std::filesystem::remove(path_ + "-outrider-lock");
    EXPECT_TRUE(*first.take());
    sqlite::DestinationLock second(path_, 1);
    EXPECT_FALSE(*second.take()) << "the first has the file that is there now";
    EXPECT_TRUE(*second.is_taken_elsewhere());
}

TEST_F(SqliteFilesTest, StandsByWhenAnotherHasTheLockFileThatIsThereNow) {
    put("orders.x", "1");
    const auto first = open();
    ASSERT_FALSE(claim(*first).held_elsewhere);
    std::filesystem::remove(path_ + "-outrider-lock");
    const auto second = open();
    EXPECT_FALSE(claim(*second).held_elsewhere);
    EXPECT_TRUE(claim(*first).held_elsewhere);
}

// As somebody does who restores a backup by moving files.
void replace(const TempFolder& folder, const std::string& payload) {
    {
        const SqliteSession fresh(folder.file("fresh.db"));
        sqlite::migrate(fresh.get());
        fresh.run(
            "insert into outrider_message(topic, payload) values ('orders.x', '" + payload + "')"
        );
    }
    for (const char* part : {"", "-wal", "-shm"}) {
        std::filesystem::rename(
            folder.file("shop.db") + part, folder.file("old.db") + std::string(part)
        );
    }
    std::filesystem::rename(folder.file("fresh.db"), folder.file("shop.db"));
}

TEST_F(SqliteFilesTest, NoticesThatTheDatabaseWasReplaced) {
    auto store = open();
    EXPECT_EQ(deliver(*store), "");
    replace(folder_, "after");
    const Result<Batch> claimed = store->claim({1000, 1U << 20U});
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().remedy, Remedy::wait);
    EXPECT_NE(claimed.error().text.find("replaced"), std::string::npos) << claimed.error().text;
    store.reset();
    store = open();
    EXPECT_EQ(deliver(*store), "after ");
}

TEST_F(SqliteFilesTest, CleansUpNothingInADatabaseThatWasReplaced) {
    const auto driver = sqlite::open_store(path_);
    const auto admin = std::move(driver->open_admin(StoreDriver::IfMissing::fail)).value();
    EXPECT_TRUE(admin->clean_up(Duration::zero(), 10));
    const auto logbook = std::move(driver->open_logbook(destination(), 1)).value();
    replace(folder_, "after");
    EXPECT_FALSE(admin->clean_up(Duration::zero(), 10));
    const Result<Legacy> entered = logbook->enter();
    ASSERT_FALSE(entered);
    EXPECT_EQ(entered.error().remedy, Remedy::wait);
}

TEST_F(SqliteFilesTest, WakesUpWhenTheDatabaseWasReplacedAndWatchesTheNewOne) {
    sqlite::SqliteWaker waker(path_);
    SystemClock clock;
    const auto wakes = [&] {
        const MonoTime start = clock.now();
        waker.wait(start + std::chrono::seconds(20));
        return clock.now() - start < std::chrono::seconds(10);
    };
    EXPECT_TRUE(wakes()) << "the first look always finds something new";
    replace(folder_, "after");
    EXPECT_TRUE(wakes());
    waker.wait(clock.now());  // opens the new one
    const SqliteSession fresh(path_);
    fresh.run("insert into outrider_message(topic, payload) values ('orders.x', 'later')");
    EXPECT_TRUE(wakes());
}

TEST_F(SqliteFilesTest, GivesTheLockFileTheModeAndOwnerOfTheDatabase) {
    constexpr uid_t kNobody = 65534;
    std::filesystem::permissions(path_, std::filesystem::perms{0666});
    const bool may_give = ::chown(path_.c_str(), kNobody, kNobody) == 0;
    sqlite::DestinationLock lock(path_, 1);
    ASSERT_TRUE(*lock.take());
    struct stat info {};
    ASSERT_EQ(::stat((path_ + "-outrider-lock").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0666U);
    EXPECT_EQ(info.st_uid, may_give ? kNobody : ::geteuid());
}

TEST_F(SqliteFilesTest, LooksAtALockWithoutMakingItsFile) {
    EXPECT_FALSE(*sqlite::DestinationLock(path_, 1).is_taken_elsewhere());
    EXPECT_FALSE(std::filesystem::exists(path_ + "-outrider-lock"));
}

TEST_F(SqliteFilesTest, SaysWhatToDoAboutALockFileOfSomebodyElse) {
    constexpr uid_t kNobody = 65534;
    std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
    std::ofstream(path_ + "-outrider-lock").close();
    std::filesystem::permissions(path_ + "-outrider-lock", std::filesystem::perms::none);
    const uid_t before = ::geteuid();  // root may open everything
    ASSERT_EQ(::seteuid(before == 0 ? kNobody : before), 0);
    const Result<bool> taken = sqlite::DestinationLock(path_, 1).take();
    ASSERT_EQ(::seteuid(before), 0);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().remedy, Remedy::correct);
    EXPECT_NE(taken.error().text.find("the owner and the mode"), std::string::npos);
}

TEST_F(SqliteFilesTest, FindsTheDatabaseAfterTheWorkingDirectoryHasChanged) {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
    const auto driver = sqlite::open_store("shop.db");
    std::filesystem::current_path(before);
    EXPECT_TRUE(driver->open(destination()));
}

}  // namespace
}  // namespace outrider
