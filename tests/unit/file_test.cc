#include "brokers/file/file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/clock.h"
#include "support/temp_folder.h"

namespace outrider {
namespace {

std::string read(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

Deadline soon() {
    return SystemClock().now() + std::chrono::seconds(60);
}

std::vector<Envelope> one() {
    Envelope envelope;
    envelope.topic = "t";
    envelope.payload = "p";
    return {envelope};
}

const std::string kLine =
    R"({"id":"00000000-0000-0000-0000-000000000000","topic":"t","payload":"p",)"
    R"("occurred_at":"1970-01-01T00:00:00.000Z"})"
    "\n";

TEST(LineFile, AppendsWholeLines) {
    const TempFolder folder;
    LineFile file(folder.file("out"));
    ASSERT_TRUE(file.append(one(), soon()));
    ASSERT_TRUE(file.append(one(), soon()));
    EXPECT_EQ(read(folder.file("out")), kLine + kLine);
}

TEST(LineFile, CutsATornTailBeforeItAppends) {
    const TempFolder folder;
    const std::string head = "{\"id\":\"";
    for (const std::string& torn : {std::string("{\"id\":"), head + std::string(10'000, 'x')}) {
        write(folder.file("out"), "{\"whole\":1}\n" + torn);
        LineFile file(folder.file("out"));
        ASSERT_TRUE(file.append(one(), soon()));
        EXPECT_EQ(read(folder.file("out")), "{\"whole\":1}\n" + kLine);
    }
    write(folder.file("out"), head + "torn in the first line");
    LineFile file(folder.file("out"));
    ASSERT_TRUE(file.append(one(), soon()));
    EXPECT_EQ(read(folder.file("out")), kLine);
}

TEST(LineFile, CutsNothingThatIsNotItsOwn) {
    const TempFolder folder;
    for (const std::string& precious : {std::string("precious"), std::string("a\n\0b", 4)}) {
        std::ofstream(folder.file("out"), std::ios::trunc) << precious;
        LineFile file(folder.file("out"));
        const Result<void> appended = file.append(one(), soon());
        ASSERT_FALSE(appended);
        EXPECT_EQ(appended.error().remedy, Remedy::correct);
        EXPECT_NE(appended.error().text.find("no line of ours"), std::string::npos);
        EXPECT_EQ(read(folder.file("out")), precious);
    }
}

TEST(LineFile, FollowsItsNameAlsoWhenItIsRotatedWhileItWaitsForTheLock) {
    const TempFolder folder;
    LineFile file(folder.file("out"));
    ASSERT_TRUE(file.append(one(), soon()));
    const int other = ::open(folder.file("out").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(other, LOCK_EX), 0);
    std::thread writer([&] { EXPECT_TRUE(file.append(one(), soon())); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it waits by now
    std::filesystem::rename(folder.file("out"), folder.file("out.1"));
    ::close(other);
    writer.join();
    EXPECT_EQ(read(folder.file("out")), kLine);
    EXPECT_EQ(read(folder.file("out.1")), kLine);
}

TEST(LineFile, FollowsItsNameWhenTheFileIsRotated) {
    const TempFolder folder;
    LineFile file(folder.file("out"));
    ASSERT_TRUE(file.append(one(), soon()));
    std::filesystem::rename(folder.file("out"), folder.file("out.1"));
    ASSERT_TRUE(file.append(one(), soon()));
    EXPECT_EQ(read(folder.file("out")), kLine);
    EXPECT_EQ(read(folder.file("out.1")), kLine);
}

TEST(LineFile, SaysWhichFileItCannotOpen) {
    const TempFolder folder;
    LineFile file(folder.file("missing/out"));
    const Result<void> appended = file.append(one(), soon());
    ASSERT_FALSE(appended);
    EXPECT_NE(appended.error().text.find("missing/out"), std::string::npos);
}

TEST(LineFile, TakesBackWhatDidNotFit) {
    // A device that is always full stands for a full disk.
    LineFile file("/dev/full");
    EXPECT_FALSE(file.append(one(), soon()));
}

}  // namespace
}  // namespace outrider
