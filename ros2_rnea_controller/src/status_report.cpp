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

#include "status_report.hpp"

#include <chrono>
#include <utility>

namespace ros2_rnea_controller {

namespace {

using diagnostic_msgs::msg::DiagnosticStatus;
using diagnostic_msgs::msg::KeyValue;

constexpr unsigned int ticks_per_second = 10;

KeyValue pair(const std::string& key, const std::string& value) {
  KeyValue pair;
  pair.key = key;
  pair.value = value;
  return pair;
}

}  // namespace

StatusReport::StatusReport(
    rclcpp_lifecycle::LifecycleNode& node, const Status& status, ModelSource& source,
    const std::vector<std::string>& joints)
    : node_(node), status_(status), source_(source), joints_(joints) {
  diagnostics_ = rclcpp::create_publisher<diagnostic_msgs::msg::DiagnosticArray>(
      node_, "/diagnostics", rclcpp::QoS(10));
  compensated_ = rclcpp::create_publisher<ros2_rnea_interfaces::msg::CompensatedJoints>(
      node_, "compensated_joints", rclcpp::QoS(1).reliable().transient_local());
  report_joints(false);  // what a process before this one has said counts no more
  timer_ = node_.create_wall_timer(
      std::chrono::milliseconds(1000 / ticks_per_second),
      [this, key = gate_.key()] { key([this] { report(); }); });
}

void StatusReport::report() {
  const bool is_active = status_.is_active;
  if (is_active != was_active_) report_joints(is_active);
  was_active_ = is_active;
  source_.judge_again();
  report_state(is_active);
}

void StatusReport::report_joints(bool is_active) {
  ros2_rnea_interfaces::msg::CompensatedJoints message;
  message.controller = node_.get_fully_qualified_name();
  if (is_active) message.joints = joints_;
  compensated_->publish(message);
}

void StatusReport::report_state(bool is_active) {
  const State state = status_.state;
  const Reason reason = status_.reason;
  const std::string refusal = source_.refusal(), held_back = source_.held_back();
  DiagnosticStatus status;
  status.name = std::string(node_.get_name()) + ": inverse dynamics";
  status.hardware_id = "none";
  status.message = is_active ? name_of(state) : "inactive";
  if (is_active && reason != Reason::none) status.message += std::string(": ") + name_of(reason);
  if (!refusal.empty()) status.message += "; " + refusal;
  if (!held_back.empty()) status.message += "; parameters are held back";
  const bool is_wrong = is_active && (state == State::fault || reason == Reason::unusable_states);
  const bool is_unusual =
      !refusal.empty() || !held_back.empty() || (is_active && reason != Reason::none);
  status.level = is_wrong     ? DiagnosticStatus::ERROR
                 : is_unusual ? DiagnosticStatus::WARN
                              : DiagnosticStatus::OK;
  if (status.message != told_) {
    if (is_wrong)
      RCLCPP_ERROR(node_.get_logger(), "%s", status.message.c_str());
    else
      RCLCPP_INFO(node_.get_logger(), "%s", status.message.c_str());
  }
  const bool is_news = status.message != told_;
  told_ = status.message;
  if (!is_news && ++ticks_ % ticks_per_second) return;
  status.values = {
      pair("state", is_active ? name_of(state) : "inactive"),
      pair("fastest joint [rad/s or m/s]", std::to_string(status_.fastest.load())),
      pair("parameters held back", held_back.empty() ? "none" : held_back)};
  diagnostic_msgs::msg::DiagnosticArray message;
  message.header.stamp = node_.now();
  message.status.push_back(std::move(status));
  diagnostics_->publish(message);
}

}  // namespace ros2_rnea_controller
