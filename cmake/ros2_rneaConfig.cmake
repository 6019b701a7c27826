# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

# What other packages build with ros2_rnea: the interpreter of model files, and a robot in C.

# ros2_rnea::tape, the interpreter of model files: tape.h.
find_path(ros2_rnea_TAPE_FOLDER tape.c NO_CACHE REQUIRED NO_DEFAULT_PATH PATHS
  ${CMAKE_CURRENT_LIST_DIR}/../tape                # installed
  ${CMAKE_CURRENT_LIST_DIR}/../ros2_rnea/kernels)   # in the sources
if(NOT TARGET ros2_rnea::tape)
  enable_language(C)
  add_library(ros2_rnea_tape STATIC ${ros2_rnea_TAPE_FOLDER}/tape.c)
  add_library(ros2_rnea::tape ALIAS ros2_rnea_tape)
  target_include_directories(ros2_rnea_tape PUBLIC ${ros2_rnea_TAPE_FOLDER})
  set_target_properties(ros2_rnea_tape PROPERTIES
    POSITION_INDEPENDENT_CODE ON C_STANDARD 99 EXCLUDE_FROM_ALL ON)
  if(NOT WIN32)
    target_link_libraries(ros2_rnea_tape PUBLIC m)
  endif()
endif()

# ros2_rnea_generate(TARGET URDF [PREFIX name] [FLOAT] [DEPENDS file ...] [OPTIONS option ...])
#
# Adds a static library TARGET with the dynamics of a robot.  `export --c` writes its source in C
# when the target is built, and again when the URDF or the file of an option has changed.
#
#   URDF     a URDF or xacro file
#   PREFIX   what all names in C begin with, and the header: <PREFIX>.h; by default TARGET
#   FLOAT    float in place of double
#   DEPENDS  further files, such as those that a xacro file includes
#   OPTIONS  further options of export, such as --payload-link tool0 or --parameters arm.yaml;
#            `ros2 run ros2_rnea export --help` explains them
#
# In a package:
#
#   find_package(ros2_rnea REQUIRED)
#   ros2_rnea_generate(my_arm urdf/my_arm.urdf OPTIONS --quantities inverse_dynamics,gravity)
#   target_link_libraries(my_controller PRIVATE my_arm)
#
# Python3_EXECUTABLE, where it is set, is the interpreter in which ros2_rnea is installed.
function(ros2_rnea_generate TARGET URDF)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FLOAT" "PREFIX" "DEPENDS;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ros2_rnea_generate does not know ${arg_UNPARSED_ARGUMENTS}: options of "
                        "export follow OPTIONS")
  endif()
  if(NOT arg_PREFIX)
    set(arg_PREFIX ${TARGET})
  endif()
  if(NOT arg_PREFIX MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "PREFIX of ros2_rnea_generate is ${arg_PREFIX}; it needs small letters, "
                        "digits and _, a letter first")
  endif()
  enable_language(C)
  set(python ${Python3_EXECUTABLE})
  if(NOT python)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(python ${Python3_EXECUTABLE})
  endif()
  get_filename_component(urdf ${URDF} ABSOLUTE)
  set(files ${urdf})
  set(options)
  foreach(option ${arg_OPTIONS})
    string(REGEX MATCH "^--[a-z-]+=" name "${option}")
    string(LENGTH "${name}" length)
    string(SUBSTRING "${option}" ${length} -1 value)
    get_filename_component(file "${value}" ABSOLUTE)
    if(value AND EXISTS "${file}" AND NOT IS_DIRECTORY "${file}")
      list(APPEND files "${file}")
      set(value "${file}")
    endif()
    list(APPEND options "${name}${value}")
  endforeach()
  foreach(file ${arg_DEPENDS})
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${TARGET})
  set(written ${folder}/${arg_PREFIX}.c ${folder}/${arg_PREFIX}.h)
  set(float $<$<BOOL:${arg_FLOAT}>:--float>)
  add_custom_command(
    OUTPUT ${written}
    COMMAND ${python} -m ros2_rnea.offline.commands.export ${urdf} --c ${folder}
            --prefix ${arg_PREFIX} ${float} ${options}
    DEPENDS ${files}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} # where no file of the package hides a module
    COMMENT "Generating the dynamics of ${URDF}"
    COMMAND_EXPAND_LISTS
    VERBATIM)
  add_library(${TARGET} STATIC ${written})
  target_include_directories(${TARGET} PUBLIC ${folder})
  set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(NOT WIN32)
    target_link_libraries(${TARGET} PUBLIC m)
  endif()
endfunction()
