# Run as a script: runs COMMAND in the empty folder FOLDER and compares what it prints with the file EXPECTED.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(
    COMMAND ${COMMAND} WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE printed RESULT_VARIABLE code TIMEOUT 290
)
file(READ "${EXPECTED}" expected)
if(NOT code STREQUAL "0")
    message(FATAL_ERROR "it exited ${code} after printing:\n${printed}")
endif()
if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "it printed:\n${printed}\nand should have printed:\n${expected}")
endif()
