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

#ifndef ROS2_RNEA_CONTROLLER__HAND_OVER_HPP_
#define ROS2_RNEA_CONTROLLER__HAND_OVER_HPP_

#include <cstddef>
#include <vector>

namespace ros2_rnea_controller {

/// The hand-over of an effort from one law to the next, without a step.
///
/// The difference between what was sent and what is needed is added and decays to zero, so that
/// gravity at the present state has its full weight from the first cycle on.  Then the rate of
/// each joint's effort is limited.
class HandOver {
 public:
  /// \param effort_limits of the joints [Nm or N], from which the rate limits follow.
  explicit HandOver(const std::vector<double>& effort_limits);

  /// The efforts that were sent last; at first those that the hardware holds.
  std::vector<double>& sent() { return sent_; }
  const std::vector<double>& sent() const { return sent_; }

  /// Sets the effort with which a joint begins; begin() follows.
  ///
  /// Where that effort does not hold the joint, it is not blended: it goes to what is needed as
  /// fast as the rate limit lets it, also if other hand-overs begin before it is there.
  void start(std::size_t joint, double effort, bool holds);

  /// Begins a hand-over from what was sent to what is needed, in place of any other.
  void begin(const double* needed, double duration);

  /// Begins one that is no longer than the one that lasts, if one does.
  void begin_within(const double* needed, double duration);

  /// Takes the needed efforts, and stores in sent() what follows after a period.
  void update(const double* needed, double period);

 private:
  std::vector<double> sent_, difference_, rates_;
  std::vector<bool> is_blended_;
  double elapsed_ = 0.0, duration_ = 0.0;
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__HAND_OVER_HPP_
