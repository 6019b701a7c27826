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

#include "settings.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "feedback_stability.hpp"

namespace ros2_rnea_controller {

namespace {

constexpr double largest_effort = 1e4;  // [Nm]; larger limits are placeholders
constexpr double largest_force = 1e6;   // [N]

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

void require_range(
    const std::string& name, double value, double lowest, double highest) {
  if (!(value >= lowest && value <= highest))
    throw Error(
        name + " is " + number(value) + "; it has to be " + number(lowest) + " to " +
        number(highest));
}

/// One number for all joints, or one for each, becomes one for each.
void spread(const std::string& name, std::vector<double>& values, std::size_t count) {
  if (values.size() == 1) values.resize(count, values.front());
  if (values.size() != count)
    throw Error(
        name + " has " + number(static_cast<double>(values.size())) +
        " numbers; it needs one, or one for each of the " + number(static_cast<double>(count)) +
        " joints");
}

void check_joints(const Settings& settings, const Model& model) {
  std::set<std::string> known;
  if (settings.joints.empty()) throw Error("joints is empty: name those to command");
  if (settings.assumed_positions.size() != settings.assumed_joints.size())
    throw Error("assumed_positions needs one number for each of assumed_joints");
  for (double position : settings.assumed_positions)
    require_range("a number of assumed_positions", position, -1e3, 1e3);
  for (const auto* names :
       {&settings.joints, &settings.measured_joints, &settings.assumed_joints})
    for (const std::string& name : *names) {
      model.joint(name);
      if (!known.insert(name).second)
        throw Error(
            "joint '" + name +
            "' is named twice in joints, measured_joints and assumed_joints: once is enough");
    }
  for (std::size_t i = 0; i < model.joint_count(); ++i)
    if (!known.count(model.joint_name(i)))
      throw Error(
          "joint '" + model.joint_name(i) +
          "' of the model is neither in joints nor in measured_joints: add it to one of them, or "
          "to assumed_joints with its position");
}

void check_limits(Settings& settings, const Model& model) {
  require_range("effort_limit_factor", settings.effort_limit_factor, 0.01, 1.0);
  if (settings.effort_limits.empty())
    for (const std::string& name : settings.joints)
      settings.effort_limits.push_back(model.joint(name).effort);
  spread("effort_limits", settings.effort_limits, settings.joints.size());
  for (std::size_t i = 0; i < settings.joints.size(); ++i) {
    const bool is_force = model.text(model.joint(settings.joints[i]).unit) == "m";
    const double limit = settings.effort_limits[i];
    const double largest = is_force ? largest_force : largest_effort;
    if (!(limit > 0.0 && limit <= largest))
      throw Error(
          "joint '" + settings.joints[i] + "' has the effort limit " + number(limit) +
          "; it needs one above 0, up to " + number(largest) + ": set effort_limits");
  }
}

void check_gains(Settings& settings) {
  if (settings.mode != Mode::computed_torque) return;
  spread("position_gains", settings.position_gains, settings.joints.size());
  spread("velocity_gains", settings.velocity_gains, settings.joints.size());
  for (std::size_t i = 0; i < settings.joints.size(); ++i) {
    const double kp = settings.position_gains[i], kd = settings.velocity_gains[i];
    const std::string gains = "joint '" + settings.joints[i] + "': position gain " + number(kp) +
                              " 1/s^2 and velocity gain " + number(kd) + " 1/s";
    if (!(kp > 0.0 && std::isfinite(kp) && kd > 0.0 && std::isfinite(kd)))
      throw Error(gains + "; both have to be above 0");
    if (!is_stable(kp, kd, settings.period, settings.feedback_delay))
      throw Error(
          gains + " would oscillate at a period of " + number(settings.period) +
          " s and a feedback_delay of " + number(settings.feedback_delay) +
          " s: use smaller gains, of which the velocity gain is twice the root of the other");
  }
}

void check_interfaces(const Settings& settings) {
  if (settings.mode == Mode::feedforward) {
    if (settings.moves_alone())
      throw Error(
          "mode feedforward has no feedback, and would let the arm drift where efforts are all "
          "that the hardware takes: use computed_torque, or add position or velocity to "
          "command_interfaces");
  } else if (!settings.moves_alone()) {
    throw Error(
        "only mode feedforward commands position or velocity: command_interfaces has to be "
        "[effort] in other modes");
  }
}

}  // namespace

Settings checked(Settings settings, const Model& model) {
  require_range("the period of the cycle", settings.period, 1e-5, 0.025);
  require_range("feedback_delay", settings.feedback_delay, 0.0, 1.0);
  require_range("blend_time", settings.blend_time, 0.0, 60.0);
  require_range("braking_time", settings.braking_time, 0.01, 10.0);
  if (settings.guiding_time != 0.0)
    require_range("guiding_time", settings.guiding_time, 0.01, 1e3);
  require_range("state_timeout", settings.state_timeout, 0.001, 10.0);
  require_range("hold_tolerance", settings.hold_tolerance, 0.0, 1e3);
  require_range("path_tolerance", settings.path_tolerance, 1e-3, 1e3);
  require_range("trip_deviation", settings.trip_deviation, 1.0, 1e3);
  require_range("trip_velocity_factor", settings.trip_velocity_factor, 1.0, 1e3);
  require_range("external_effort_gain", settings.external_effort_gain, 0.0, 1e4);
  check_joints(settings, model);
  check_limits(settings, model);
  check_interfaces(settings);
  check_gains(settings);
  return settings;
}

}  // namespace ros2_rnea_controller
