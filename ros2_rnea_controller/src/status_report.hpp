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

#ifndef ROS2_RNEA_CONTROLLER__STATUS_REPORT_HPP_
#define ROS2_RNEA_CONTROLLER__STATUS_REPORT_HPP_

#include <atomic>
#include <string>
#include <vector>

#include "callback_gate.hpp"
#include "control_core.hpp"
#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "model_source.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "ros2_rnea_interfaces/msg/compensated_joints.hpp"

namespace ros2_rnea_controller {

/// What the control loop tells, in numbers that no thread waits for.
struct Status {
  std::atomic<bool> is_active{false};
  std::atomic<State> state{State::gravity};
  std::atomic<Reason> reason{Reason::none};
  std::atomic<double> fastest{0.0};
};

/// Tells people what the controller does, and nodes of ros2_rnea which joints it compensates.
///
/// A timer of the node reads the status: /diagnostics, the log where the state has changed, and
/// compensated_joints, by which a node sends no second effort to these joints.
class StatusReport {
 public:
  StatusReport(
      rclcpp_lifecycle::LifecycleNode& node, const Status& status, ModelSource& source,
      const std::vector<std::string>& joints);

 private:
  void report();
  void report_joints(bool is_active);
  void report_state(bool is_active);

  rclcpp_lifecycle::LifecycleNode& node_;
  const Status& status_;
  ModelSource& source_;
  std::vector<std::string> joints_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr diagnostics_;
  rclcpp::Publisher<ros2_rnea_interfaces::msg::CompensatedJoints>::SharedPtr compensated_;
  rclcpp::TimerBase::SharedPtr timer_;
  bool was_active_ = false;
  std::string told_;
  unsigned int ticks_ = 0;
  CallbackGate gate_;  // the last member: it closes before the others go
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__STATUS_REPORT_HPP_
