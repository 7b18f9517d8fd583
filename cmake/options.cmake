# Language, warnings and hardening of every target of ours, as one interface library.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
option(TIDEMILL_WERROR "Warnings are errors" OFF)

add_library(tidemill_options INTERFACE)
target_compile_options(tidemill_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<BOOL:${TIDEMILL_WERROR}>:-Werror> -fstack-protector-strong -fno-omit-frame-pointer)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # SSE4.2 has the CRC-32C instruction; every x86-64 server since 2009 has it, and Arrow's wheel asks for it too.
  target_compile_options(tidemill_options INTERFACE -msse4.2)
endif()
if(TIDEMILL_SANITIZE)
  target_compile_options(tidemill_options INTERFACE -fsanitize=${TIDEMILL_SANITIZE})
  target_link_options(tidemill_options INTERFACE -fsanitize=${TIDEMILL_SANITIZE})
else()
  target_compile_definitions(tidemill_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
  target_link_options(tidemill_options INTERFACE -Wl,-z,relro,-z,now)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
