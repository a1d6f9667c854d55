# Brokers behind a network, each with its client library: on where the library is found. Included from src/, so paths
# are relative to it.
include(CMakeDependentOption)
find_package(PkgConfig)

# cnats by pkg-config: the CMake files of Debian's package name a static library that it does not contain.
if(PkgConfig_FOUND)
    pkg_check_modules(HIREDIS IMPORTED_TARGET GLOBAL hiredis>=0.14)
    pkg_check_modules(MOSQUITTO IMPORTED_TARGET GLOBAL libmosquitto>=2.0)
    pkg_check_modules(CNATS IMPORTED_TARGET GLOBAL libnats>=3.4)
    pkg_check_modules(RDKAFKA IMPORTED_TARGET GLOBAL rdkafka>=2.0)
endif()
find_package(rabbitmq-c 0.11 CONFIG QUIET GLOBAL)
find_package(CURL 7.88)
find_package(OpenSSL)

cmake_dependent_option(OUTRIDER_REDIS "Redis Streams (hiredis)" ON HIREDIS_FOUND OFF)
cmake_dependent_option(OUTRIDER_KAFKA "Apache Kafka (librdkafka)" ON RDKAFKA_FOUND OFF)
cmake_dependent_option(OUTRIDER_NATS "NATS JetStream (cnats)" ON CNATS_FOUND OFF)
cmake_dependent_option(OUTRIDER_HTTP "HTTP (libcurl, libcrypto)" ON "CURL_FOUND;OPENSSL_FOUND" OFF)
cmake_dependent_option(OUTRIDER_MQTT "MQTT 5 (libmosquitto)" ON MOSQUITTO_FOUND OFF)
cmake_dependent_option(OUTRIDER_RABBITMQ "RabbitMQ (rabbitmq-c)" ON rabbitmq-c_FOUND OFF)

# What they share: targets, headers, CloudEvents, URLs, sockets.
outrider_room(
    wire
    SOURCES brokers/wire/cloud_event.cc brokers/wire/driver.cc brokers/wire/encoder.cc brokers/wire/parameters.cc
            brokers/wire/socket.cc brokers/wire/target.cc brokers/wire/url.cc
    PUBLIC outrider::core
    PRIVATE nlohmann_json::nlohmann_json
)

if(OUTRIDER_HTTP)
    outrider_room(
        http
        SOURCES brokers/http/address.cc brokers/http/broker.cc brokers/http/classify.cc brokers/http/flight.cc
                brokers/http/link.cc brokers/http/options.cc brokers/http/place.cc brokers/http/signer.cc
                brokers/http/transfer.cc brokers/http/writer.cc
        PUBLIC outrider::wire
        PRIVATE CURL::libcurl OpenSSL::Crypto
    )
endif()

if(OUTRIDER_REDIS)
    outrider_room(
        redis
        SOURCES brokers/redis/broker.cc brokers/redis/burst.cc brokers/redis/classify.cc brokers/redis/connection.cc
                brokers/redis/options.cc brokers/redis/server_info.cc
        PUBLIC outrider::wire
        PRIVATE PkgConfig::HIREDIS
    )
endif()

if(OUTRIDER_KAFKA)
    outrider_room(
        kafka
        SOURCES brokers/kafka/broker.cc brokers/kafka/burst.cc brokers/kafka/classify.cc brokers/kafka/client.cc
                brokers/kafka/facts.cc brokers/kafka/options.cc brokers/kafka/writer.cc
        PUBLIC outrider::wire
        PRIVATE PkgConfig::RDKAFKA
    )
endif()

if(OUTRIDER_MQTT)
    outrider_room(
        mqtt
        SOURCES brokers/mqtt/broker.cc brokers/mqtt/classify.cc brokers/mqtt/connection.cc brokers/mqtt/flight.cc
                brokers/mqtt/options.cc brokers/mqtt/topic.cc brokers/mqtt/writer.cc
        PUBLIC outrider::wire
        PRIVATE PkgConfig::MOSQUITTO
    )
endif()

if(OUTRIDER_NATS)
    outrider_room(
        nats
        SOURCES brokers/nats/broker.cc brokers/nats/classify.cc brokers/nats/connection.cc brokers/nats/facts.cc
                brokers/nats/flight.cc brokers/nats/json.cc brokers/nats/options.cc brokers/nats/subject.cc
                brokers/nats/writer.cc
        PUBLIC outrider::wire
        PRIVATE PkgConfig::CNATS
    )
endif()

if(OUTRIDER_RABBITMQ)
    outrider_room(
        rabbitmq
        SOURCES brokers/rabbitmq/broker.cc brokers/rabbitmq/classify.cc brokers/rabbitmq/connection.cc
                brokers/rabbitmq/flight.cc brokers/rabbitmq/options.cc brokers/rabbitmq/route.cc
                brokers/rabbitmq/watchdog.cc brokers/rabbitmq/writer.cc
        PUBLIC outrider::wire
        PRIVATE rabbitmq::rabbitmq Threads::Threads
    )
endif()
