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
        {"http://h/x?token=hunter2&a=b", "http://h/x?token=***&a=***"},
        {"http://h/x?a=b&PassWord=hunter2", "http://h/x?a=***&PassWord=***"},
        {"http://h/x?Window=4&token=hunter2&qos=1", "http://h/x?Window=4&token=***&qos=1"},
        {"nats://h?tokn=hunter2", "nats://h?tokn=***"},
        {"nats://h?to%6ben=hunter2", "nats://h?to%6ben=***"},
        {"nats://h?token=hunter2;3#4&x", "nats://h?token=***&x"},
        {"postgres://db/shop?sslmode=require&passwrd=hunter2",
         "postgres://db/shop?sslmode=require&passwrd=***"},
        {"http://h:80/a@b", "http://h:80/a@b"},
        {"postgres://shop:pa/ss@db/shop", "postgres://shop:***@db/shop"},
        {"postgres://shop:pa'ss word@db/shop", "postgres://shop:***@db/shop"},
        {"postgres://shop:pa?ss#@db/shop", "postgres://shop:***@db/shop"},
        {"http://h/?pwd=pa'ss", "http://h/?pwd=***"},
        {"redis:/u:hunter2@h", "redis:***@h"},
        {"redis:u:hunter2@h", "redis:***@h"},
        {"redis:///u:hunter2@h", "redis:***@h"},
        {"redis//u:hunter2@h", "redis//u:***@h"},
        {"u:hunter2@h", "u:***@h"},
        {"u:hunt@er/2?x@h", "u:***@h"},
        {"postgres:///shop?user=me@corp", "postgres:///shop?user=me@corp"},
        {"sqlite:/var/a:b@c.db", "sqlite:/var/a:b@c.db"},
        {"File:///var/a:b@c.log", "File:///var/a:b@c.log"},
        {"stdout:", "stdout:"},
        {"host=db user=me@corp", "host=db user=me@corp"},
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
