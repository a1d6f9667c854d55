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

# What they share: targets, headers, CloudEvents, URLs, sockets.
outrider_room(
    wire
    SOURCES brokers/wire/chains.cc brokers/wire/cloud_event.cc brokers/wire/driver.cc brokers/wire/encoder.cc
            brokers/wire/files.cc brokers/wire/parameters.cc brokers/wire/socket.cc brokers/wire/target.cc
            brokers/wire/url.cc
    PUBLIC outrider::core
    PRIVATE nlohmann_json::nlohmann_json
)

# outrider_broker(NAME TITLE NEEDS ... SOURCES ... LIBRARIES ...): the option OUTRIDER_<NAME>, on where all it needs was
# found, and its room. Sources are those of its own folder.
function(outrider_broker name title)
    cmake_parse_arguments(broker "" "" "NEEDS;SOURCES;LIBRARIES" ${ARGN})
    string(TOUPPER OUTRIDER_${name} option)
    cmake_dependent_option(${option} "${title}" ON "${broker_NEEDS}" OFF)
    set(${option} ${${option}} PARENT_SCOPE)
    if(NOT ${option})
        return()
    endif()
    list(TRANSFORM broker_SOURCES PREPEND brokers/${name}/)
    outrider_room(${name} SOURCES ${broker_SOURCES} PUBLIC outrider::wire PRIVATE ${broker_LIBRARIES})
endfunction()

outrider_broker(
    http "HTTP (libcurl, libcrypto)"
    NEEDS CURL_FOUND OPENSSL_FOUND
    SOURCES address.cc broker.cc classify.cc flight.cc link.cc options.cc place.cc signer.cc transfer.cc writer.cc
    LIBRARIES CURL::libcurl OpenSSL::Crypto
)

outrider_broker(
    redis "Redis Streams (hiredis)"
    NEEDS HIREDIS_FOUND
    SOURCES broker.cc burst.cc classify.cc connection.cc options.cc server_info.cc
    LIBRARIES PkgConfig::HIREDIS
)
if(OUTRIDER_REDIS)
    # Its library wants another flag than the precompiled headers have.
    set_target_properties(outrider_redis PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endif()

outrider_broker(
    kafka "Apache Kafka (librdkafka)"
    NEEDS RDKAFKA_FOUND
    SOURCES broker.cc burst.cc classify.cc client.cc facts.cc lanes.cc options.cc producer.cc troubles.cc writer.cc
    LIBRARIES PkgConfig::RDKAFKA
)

outrider_broker(
    mqtt "MQTT 5 (libmosquitto)"
    NEEDS MOSQUITTO_FOUND
    SOURCES broker.cc classify.cc connack.cc connection.cc flight.cc options.cc topic.cc writer.cc
    LIBRARIES PkgConfig::MOSQUITTO
)

outrider_broker(
    nats "NATS JetStream (cnats)"
    NEEDS CNATS_FOUND
    SOURCES broker.cc classify.cc connection.cc facts.cc flight.cc json.cc options.cc renewals.cc stored.cc streams.cc
            subject.cc writer.cc
    LIBRARIES PkgConfig::CNATS
)

outrider_broker(
    rabbitmq "RabbitMQ (rabbitmq-c)"
    NEEDS rabbitmq-c_FOUND
    SOURCES broker.cc classify.cc connection.cc flight.cc options.cc route.cc watchdog.cc writer.cc
    LIBRARIES rabbitmq::rabbitmq Threads::Threads
)
