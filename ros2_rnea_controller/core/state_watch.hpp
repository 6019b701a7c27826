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

#ifndef ROS2_RNEA_CONTROLLER__STATE_WATCH_HPP_
#define ROS2_RNEA_CONTROLLER__STATE_WATCH_HPP_

#include <cstddef>
#include <vector>

namespace ros2_rnea_controller {

/// Tells states that can be used from those that cannot.
///
/// A state that is no finite number cannot.  Nor can one that is repeated to the bit although its
/// velocity would have moved the joint: a driver that has lost its hardware may report the state
/// that it read last, and damping of a velocity that is not there would drive the arm.  Hardware
/// that is read more seldom than the cycle runs repeats states as well, but not for as long.
class StateWatch {
 public:
  explicit StateWatch(std::size_t joints);

  /// Takes the states of a cycle, and returns whether they can be used.
  bool update(const double* q, const double* qd, double period);

 private:
  std::vector<double> q_, qd_, way_;
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__STATE_WATCH_HPP_
