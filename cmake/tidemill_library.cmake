# tidemill_library(NAME SRCS … HDRS … DEPS … TESTS …): one folder of src/ as a static library `tidemill_<name>`, alias `tidemill::<name>`.
#
# HDRS compile alone (target `all_verify_interface_header_sets`). TESTS are x_test.cc files; together they become one program `<name>_test`,
# whose cases ctest lists one by one. TEST_DEPS are linked into the tests only. Targets `unit_tests` and
# `threaded_unit_tests` build all tests, and those that start threads and so run under ThreadSanitizer too: TIDEMILL_THREADED names their folders.
set(TIDEMILL_THREADED base connector_file state stream testing)
if(TIDEMILL_DEVELOPER)
  add_custom_target(unit_tests)
  add_custom_target(threaded_unit_tests)
endif()

function(tidemill_library name)
  cmake_parse_arguments(arg "" "" "SRCS;HDRS;DEPS;TESTS;TEST_DEPS" ${ARGN})
  set(target tidemill_${name})
  add_library(${target} STATIC ${arg_SRCS})
  add_library(tidemill::${name} ALIAS ${target})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(${target} PUBLIC ${arg_DEPS} PRIVATE $<BUILD_INTERFACE:tidemill_options>)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${arg_HDRS})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  if(TIDEMILL_DEVELOPER AND arg_TESTS)
    add_executable(${name}_test ${arg_TESTS})
    target_link_libraries(${name}_test PRIVATE ${target} ${arg_TEST_DEPS} GTest::gtest_main GTest::gmock tidemill_options)
    add_dependencies(unit_tests ${name}_test)
    set(labels unit ${name})
    if(name IN_LIST TIDEMILL_THREADED)
      add_dependencies(threaded_unit_tests ${name}_test)
      list(APPEND labels threads)
    endif()
    if(TIDEMILL_SANITIZE)
      # A process a case costs more than the case: the sanitizer's start-up is slow.
      add_test(NAME ${name}_test COMMAND ${name}_test)
      set_tests_properties(${name}_test PROPERTIES LABELS "${labels}" TIMEOUT 900)
    else()
      gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${labels}" TIMEOUT 300)
    endif()
  endif()
endfunction()
