# Arrow C++ out of the pyarrow wheel, as targets arrow::arrow and arrow::compute.
#
# The wheel carries headers and lib*.so.<abi>, but neither lib*.so links nor a CMake package. Looked for in this order: an installed pyarrow
# named by -DTIDEMILL_PYARROW_DIR=…/site-packages/pyarrow, the one of the Python on the path, a copy in a user-wide cache folder that
# configuring fills by pip.
set(TIDEMILL_PYARROW_VERSION 26.0.1)
set(TIDEMILL_PYARROW_DIR "" CACHE PATH "folder of an installed pyarrow ${TIDEMILL_PYARROW_VERSION}")
find_package(Python3 REQUIRED COMPONENTS Interpreter)

if(NOT TIDEMILL_PYARROW_DIR)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import pyarrow, os; print(pyarrow.__version__, os.path.dirname(pyarrow.__file__))"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(found MATCHES "^${TIDEMILL_PYARROW_VERSION} (.*)$")
    set(TIDEMILL_PYARROW_DIR "${CMAKE_MATCH_1}")
  else()
    if(DEFINED ENV{XDG_CACHE_HOME})
      set(cache "$ENV{XDG_CACHE_HOME}/tidemill")
    else()
      set(cache "$ENV{HOME}/.cache/tidemill")
    endif()
    set(cache "${cache}/pyarrow-${TIDEMILL_PYARROW_VERSION}")
    if(NOT EXISTS "${cache}/pyarrow/include/arrow/api.h")
      message(STATUS "Installing pyarrow ${TIDEMILL_PYARROW_VERSION} into ${cache}")
      execute_process(COMMAND ${Python3_EXECUTABLE} -m pip install --quiet --no-deps --target "${cache}"
        pyarrow==${TIDEMILL_PYARROW_VERSION} COMMAND_ERROR_IS_FATAL ANY)
    endif()
    set(TIDEMILL_PYARROW_DIR "${cache}/pyarrow")
  endif()
endif()
message(STATUS "Arrow from ${TIDEMILL_PYARROW_DIR}")

function(_arrow_target name library)
  file(GLOB file "${TIDEMILL_PYARROW_DIR}/lib${library}.so.[0-9][0-9][0-9][0-9]")
  if(NOT file)
    message(FATAL_ERROR "no lib${library}.so.<abi> in ${TIDEMILL_PYARROW_DIR}: is that a pyarrow ${TIDEMILL_PYARROW_VERSION} wheel?")
  endif()
  add_library(arrow::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(arrow::${name} PROPERTIES IMPORTED_LOCATION "${file}"
    INTERFACE_INCLUDE_DIRECTORIES "${TIDEMILL_PYARROW_DIR}/include")
  target_link_libraries(arrow::${name} INTERFACE ${ARGN})
endfunction()
_arrow_target(arrow arrow)
_arrow_target(compute arrow_compute arrow::arrow)
