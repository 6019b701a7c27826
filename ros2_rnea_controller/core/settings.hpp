// Copyright 2026 The ros2_rnea authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

#ifndef ROS2_RNEA_CONTROLLER__SETTINGS_HPP_
#define ROS2_RNEA_CONTROLLER__SETTINGS_HPP_

#include <cstddef>
#include <string>
#include <vector>

#include "model.hpp"

namespace ros2_rnea_controller {

/// What is computed, and which references another controller writes.
enum class Mode {
  gravity_compensation,  ///< The effort that holds the measured state.  There is no reference.
  feedforward,           ///< The effort of the reference; drives or hardware close the loop.
  computed_torque,       ///< At the measured state, for the reference's acceleration and feedback.
  effort                 ///< The reference is an effort, to which the model's is added.
};

/// The settings of a ControlCore.  Vectors have a number for each controlled joint.
struct Settings {
  Mode mode = Mode::gravity_compensation;
  std::vector<std::string> joints;           ///< that are commanded
  std::vector<std::string> measured_joints;  ///< that are measured as well, such as a gripper's
  std::vector<std::string> assumed_joints;   ///< that stand at assumed_positions
  std::vector<double> assumed_positions;     ///< [rad or m]
  std::vector<double> position_gains;        ///< [1/s^2]
  std::vector<double> velocity_gains;        ///< [1/s]
  std::vector<double> effort_limits;         ///< [Nm or N]; empty: those of the model
  double effort_limit_factor = 1.0;
  bool passes_position = false;  ///< whether the hardware has a position interface
  bool passes_velocity = false;  ///< likewise for velocity
  double period = 0.001;         ///< of the cycle [s]
  double feedback_delay = 0.002;  ///< from a measurement until its effort acts, less a period [s]
  double blend_time = 0.5;        ///< of a hand-over [s]
  double braking_time = 0.1;      ///< time constant of braking [s]
  double guiding_time = 0.3;      ///< the same in gravity_compensation [s]; 0: no damping
  double state_timeout = 0.1;     ///< how long states may be unusable [s]
  double hold_tolerance = 0.1;    ///< from which a reference is followed [rad or m]
  double path_tolerance = 0.2;    ///< largest error of feedback [rad or m]
  double trip_deviation = 2.0;    ///< multiple of path_tolerance that is a fault
  double trip_velocity_factor = 1.5;    ///< multiple of the velocity limit that is a fault
  double external_effort_gain = 0.0;    ///< of the momentum observer [1/s]; 0: none

  /// Whether nothing but the controller moves the joints, so that it has to brake them.
  bool moves_alone() const { return !passes_position && !passes_velocity; }
  bool follows_motion() const {
    return mode == Mode::feedforward || mode == Mode::computed_torque;
  }
};

/// Returns the settings with limits and gains for each joint.
/// \throws Error naming the joint or setting that does not fit, its value and what would.
Settings checked(Settings settings, const Model& model);

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__SETTINGS_HPP_
