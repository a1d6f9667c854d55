# Run as a script: turns the SQL files of a room into constants of one header.
#   cmake -D OUTPUT=... -D NAMESPACE=... -D FOLDER=... -P EmbedSql.cmake
# claim_log.sql becomes claim_log, schema/001_log.sql becomes schema_001_log.
file(GLOB_RECURSE files RELATIVE "${FOLDER}" "${FOLDER}/*.sql")
list(SORT files)
set(text "#pragma once\n\n#include <string_view>\n\nnamespace ${NAMESPACE} {\n\n")
foreach(file IN LISTS files)
    file(READ "${FOLDER}/${file}" content)
    string(REGEX REPLACE "\\.sql$" "" name "${file}")
    string(REPLACE "/" "_" name "${name}")
    string(APPEND text "inline constexpr std::string_view ${name} = R\"sql(${content})sql\";\n")
endforeach()
string(APPEND text "\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUTPUT}" "${text}")
