# outrider_precompile(TARGET OWNER HEADERS...): the headers are compiled once, for the owner; the other targets have the
# same flags. A header that a source forgets to include is found by the builds without this (dev, lint).
function(outrider_precompile target owner)
    if(NOT OUTRIDER_PRECOMPILE)
        return()
    endif()
    if(target STREQUAL owner)
        target_precompile_headers(${target} PRIVATE ${ARGN})
    else()
        target_precompile_headers(${target} REUSE_FROM ${owner})
    endif()
endfunction()

# outrider_room(NAME SOURCES ... [PUBLIC ...] [PRIVATE ...])
# One static library per room, seen by others as outrider::NAME. Its sources include from src/, its users see include/.
function(outrider_room name)
    cmake_parse_arguments(room "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(outrider_${name} STATIC ${room_SOURCES})
    add_library(outrider::${name} ALIAS outrider_${name})
    target_compile_features(outrider_${name} PUBLIC cxx_std_20)
    target_include_directories(
        outrider_${name}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
        PRIVATE ${PROJECT_SOURCE_DIR}/src
    )
    # Warnings and header-only libraries are for our own sources: whoever links the room needs neither.
    string(REPLACE nlohmann_json::nlohmann_json "$<BUILD_INTERFACE:nlohmann_json::nlohmann_json>" private
                   "${room_PRIVATE}")
    target_link_libraries(
        outrider_${name} PUBLIC ${room_PUBLIC} PRIVATE ${private} $<BUILD_INTERFACE:outrider_flags>
    )
    outrider_precompile(
        outrider_${name} outrider_core
        <algorithm> <array> <charconv> <chrono> <functional> <map> <memory> <mutex> <optional> <set> <span> <string>
        <string_view> <thread> <unordered_map> <vector>
    )
    if(OUTRIDER_CHECK_HOUSE)
        add_dependencies(outrider_${name} outrider_house)
    endif()
endfunction()

# outrider_embed_sql(TARGET FOLDER NAMESPACE): makes "FOLDER/sql.h" includable in the target.
function(outrider_embed_sql target folder namespace)
    set(output ${PROJECT_BINARY_DIR}/generated/${folder}/sql.h)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/sql/*.sql)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D NAMESPACE=${namespace}
                -D FOLDER=${PROJECT_SOURCE_DIR}/src/${folder}/sql -P ${PROJECT_SOURCE_DIR}/cmake/EmbedSql.cmake
        DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedSql.cmake
        COMMENT "Embedding the SQL of ${folder}"
    )
    target_sources(${target} PRIVATE ${output})
    target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
