# What `cmake --install` puts where: headers, libraries, the binary; files for find_package and pkg-config.
# Each library is a component with a file of its own, so that whoever asks for one needs nothing of the others.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(OUTRIDER_COMPONENTS core sqlite relay stores_shared sqlite_store brokers testing)
if(OUTRIDER_POSTGRES)
    list(APPEND OUTRIDER_COMPONENTS postgres postgres_store table_store)
endif()

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/outrider)
foreach(component IN LISTS OUTRIDER_COMPONENTS)
    set_target_properties(outrider_${component} PROPERTIES EXPORT_NAME ${component})
    install(TARGETS outrider_${component} EXPORT outrider-${component} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(
        EXPORT outrider-${component}
        NAMESPACE outrider::
        DESTINATION ${folder}
    )
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/outrider DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET outrider)
    install(TARGETS outrider RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/outriderConfig.cmake.in ${PROJECT_BINARY_DIR}/outriderConfig.cmake
    INSTALL_DESTINATION ${folder}
)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/outriderConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/outriderConfig.cmake ${PROJECT_BINARY_DIR}/outriderConfigVersion.cmake
        DESTINATION ${folder})

# outrider_pkg_config(NAME CLIENT SENTENCE): for those who build without CMake.
function(outrider_pkg_config name client sentence)
    set(PC_NAME ${name})
    set(PC_CLIENT ${client})
    set(PC_SENTENCE ${sentence})
    file(RELATIVE_PATH PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" PC_UP "${PC_UP}")
    configure_file(${PROJECT_SOURCE_DIR}/cmake/outrider.pc.in ${PROJECT_BINARY_DIR}/outrider-${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/outrider-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

outrider_pkg_config(sqlite sqlite3 "Transactional outbox: enqueue on SQLite")
if(OUTRIDER_POSTGRES)
    outrider_pkg_config(postgres libpq "Transactional outbox: enqueue on PostgreSQL")
endif()
