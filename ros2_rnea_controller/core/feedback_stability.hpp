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

#ifndef ROS2_RNEA_CONTROLLER__FEEDBACK_STABILITY_HPP_
#define ROS2_RNEA_CONTROLLER__FEEDBACK_STABILITY_HPP_

namespace ros2_rnea_controller {

/// Returns whether the feedback of computed_torque is stable in a loop with dead time.
///
/// The error e of a joint obeys e'' = -r (kp e + kd e'), with r = 1 where the model is right.  The
/// feedback is computed once in a period, acts after the delay, and is held.  Each mode of these
/// differences has to be stable, and the slowest one needs a damping ratio of at least 0.1, with
/// r = 0.7, 1, 1.3 and 1.95: models that are wrong by 30 %, and a margin.  It is the criterion of
/// the node, in ros2_rnea/control/law/gain_check.py.
///
/// \param kp, kd gains [1/s^2, 1/s], above 0.
/// \param period, delay of the loop [s].
bool is_stable(double kp, double kd, double period, double delay);

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__FEEDBACK_STABILITY_HPP_
