#include "config/secret_url.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

struct Case {
    const char* text;
    const char* masked;
};

TEST(SecretUrl, EverySecretIsMasked) {
    const Case cases[] = {
        {"sqlite:///var/lib/shop.db", "sqlite:///var/lib/shop.db"},
        {"postgres://shop:hunter2@db/shop", "postgres://shop:***@db/shop"},
        {"postgres://shop:p@ss:w@db/shop", "postgres://shop:***@db/shop"},
        {"postgres://shop@db/shop", "postgres://shop@db/shop"},
        {"postgres://shop:@db/shop", "postgres://shop:***@db/shop"},
        {"redis://:hunter2@db", "redis://:***@db"},
        {"mqtt://shop@h", "mqtt://shop@h"},
        {"http://sk_hunter2@h/", "http://***@h/"},
        {"HTTPS://sk_hunter2:@h/a", "HTTPS://***@h/a"},
        {"https://shop:hunter2@h/a", "https://shop:***@h/a"},
        {"nats://hunter2@h:4222", "nats://***@h:4222"},
        {"natss://hunter2@h", "natss://***@h"},
        {"nats://hunter2@a:4222,hunter3@b:4222", "nats://***@b:4222"},
        {"http://h/x?token=hunter2&a=b", "http://h/x?token=***&a=b"},
        {"http://h/x?a=b&PassWord=hunter2", "http://h/x?a=b&PassWord=***"},
        {"http://h:80/a@b", "http://h:80/a@b"},
        {"postgres://shop:pa/ss@db/shop", "postgres://shop:***@db/shop"},
        {"postgres://shop:pa'ss word@db/shop", "postgres://shop:***@db/shop"},
        {"postgres://shop:pa?ss#@db/shop", "postgres://shop:***@db/shop"},
        {"http://h/?pwd=pa'ss", "http://h/?pwd=***"},
        {"", ""},
    };
    for (const Case& one : cases) EXPECT_EQ(SecretUrl(one.text).masked(), one.masked);
}

TEST(SecretUrl, UrlsInsideSentencesAreMasked) {
    const Case cases[] = {
        {"a bad 'nats://u:hunter2@h:4222' b", "a bad 'nats://u:***@h:4222' b"},
        {"amqp://a:hunter2@h/ and kafka://b:hunter2@k", "amqp://a:***@h/ and kafka://b:***@k"},
        {"not 'https://sk_hunter2@h' but amqp://a@h", "not 'https://***@h' but amqp://a@h"},
        {"host=db password=hunter2 user=shop", "host=db password=*** user=shop"},
        {"tell me@example.com at http://h:80/ now", "tell me@example.com at http://h:80/ now"},
    };
    for (const Case& one : cases) EXPECT_EQ(mask_secrets(one.text), one.masked);
}

TEST(SecretUrl, HasASchemeAndARest) {
    EXPECT_EQ(SecretUrl("SQLite:shop.db").scheme(), "sqlite");
    EXPECT_EQ(SecretUrl("sqlite:shop.db").rest(), "shop.db");
    EXPECT_EQ(SecretUrl("shop.db").scheme(), "");
    EXPECT_EQ(SecretUrl("/a/b:c").scheme(), "");
    EXPECT_EQ(SecretUrl("").scheme(), "");
}

}  // namespace
}  // namespace outrider
