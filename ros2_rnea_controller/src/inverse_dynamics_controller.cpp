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

#include "inverse_dynamics_controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pluginlib/class_list_macros.hpp"

namespace ros2_rnea_controller {

namespace {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

constexpr double slow_enough = 0.05;  // to end a fault [rad/s or m/s]
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Mode mode_of(const std::string& name) {
  if (name == "feedforward") return Mode::feedforward;
  if (name == "computed_torque") return Mode::computed_torque;
  return name == "effort" ? Mode::effort : Mode::gravity_compensation;
}

/// Names of interfaces in the order in which they are claimed: joint by joint.
InterfaceConfiguration interfaces(
    const std::vector<std::string>& joints, const std::vector<std::string>& kinds) {
  InterfaceConfiguration claimed{interface_configuration_type::INDIVIDUAL, {}};
  for (const std::string& joint : joints)
    for (const std::string& kind : kinds) claimed.names.push_back(joint + "/" + kind);
  return claimed;
}

}  // namespace

// ---- Life --------------------------------------------------------------------------------------

CallbackReturn InverseDynamicsController::on_init() {
  try {
    parameter_listener_ = std::make_shared<ParamListener>(get_node());
    parameters_ = parameter_listener_->get_params();
  } catch (const std::exception& error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

CallbackReturn InverseDynamicsController::on_configure(const rclcpp_lifecycle::State&) {
  parameters_ = parameter_listener_->get_params();
  auto& node = *get_node();
  try {
    if (!has(parameters_.command_interfaces, "effort"))
      throw Error("command_interfaces has to contain effort");
    if (!has(parameters_.state_interfaces, "position") ||
        !has(parameters_.state_interfaces, "velocity"))
      throw Error("state_interfaces has to contain position and velocity");
    if (!has(parameters_.reference_interfaces, "position"))
      throw Error("reference_interfaces has to contain position");
    const bool is_any = parameters_.allow_other_description;
    source_ = std::make_unique<ModelSource>(
        node, settings(), is_any ? std::string() : get_robot_description());
    if (parameters_.model_file.empty()) {
      source_->subscribe(parameters_.model_topic);
      source_->wait(parameters_.model_topic, parameters_.model_timeout);
    } else {
      source_->read(parameters_.model_file);
    }
  } catch (const std::exception& error) {
    RCLCPP_ERROR(node.get_logger(), "%s", error.what());
    source_.reset();  // else it would take and refuse what comes later
    return CallbackReturn::FAILURE;
  }
  is_enabled_ = true;
  report_ = std::make_unique<StatusReport>(node, status_, *source_, parameters_.joints);
  enable_ = node.create_service<std_srvs::srv::SetBool>(
      "~/enable", [this, key = gate_.key()](
                      std_srvs::srv::SetBool::Request::ConstSharedPtr request,
                      std_srvs::srv::SetBool::Response::SharedPtr response) {
        key([&] { take_request(*request, *response); });
      });
  return CallbackReturn::SUCCESS;
}

CallbackReturn InverseDynamicsController::on_activate(const rclcpp_lifecycle::State&) {
  const auto logger = get_node()->get_logger();
  source_->set_in_use(true);
  core_ = source_->model();
  if (!core_) {
    source_->set_in_use(false);
    RCLCPP_ERROR(logger, "another model arrives right now: activate the controller again");
    return CallbackReturn::FAILURE;
  }
  q_places_.clear();
  v_places_.clear();
  for (const auto* joints : {&parameters_.joints, &parameters_.measured_joints})
    for (const std::string& joint : *joints) {
      q_places_.push_back(core_->q_place(joint));
      v_places_.push_back(core_->v_place(joint));
    }
  const ModelParameters& parameters = source_->parameters();
  core_->set_parameters(parameters.values.data());
  parameters_number_ = parameters.number;
  forget_references();
  std::fill(core_->measured().q.begin(), core_->measured().q.end(), nan);
  for (std::size_t i = 0; i < parameters_.assumed_joints.size(); ++i)
    core_->measured().q[core_->q_place(parameters_.assumed_joints[i])] =
        parameters_.assumed_positions[i];
  read_states();
  const std::string reason = core_->reason_not_to_start();
  if (!reason.empty()) {
    source_->set_in_use(false);
    RCLCPP_ERROR(logger, "not activated: %s", reason.c_str());
    return CallbackReturn::FAILURE;
  }
  std::vector<double> held;
  const std::size_t kinds = parameters_.command_interfaces.size();
  for (std::size_t i = 0; i < command_interfaces_.size(); i += kinds)
    held.push_back(command_interfaces_[i].get_optional().value_or(nan));
  if (!core_->start(held.data())) {
    source_->set_in_use(false);
    RCLCPP_ERROR(logger, "a position or velocity of the joints is not finite: check the hardware");
    return CallbackReturn::FAILURE;
  }
  status_.is_active = true;
  return CallbackReturn::SUCCESS;
}

CallbackReturn InverseDynamicsController::on_deactivate(const rclcpp_lifecycle::State&) {
  status_.is_active = false;
  read_states();
  core_->hold();  // where the states are unusable: at the last that were not
  write_commands();
  if (!core_->is_at_rest())
    RCLCPP_WARN(
        get_node()->get_logger(),
        "deactivated while a joint moves with %.3g rad/s or m/s, with the effort that holds this "
        "position: call ~/enable with false first, and wait until the arm rests",
        core_->fastest());
  forget_references();
  source_->forget_positions();
  source_->set_in_use(false);
  return CallbackReturn::SUCCESS;
}

CallbackReturn InverseDynamicsController::on_cleanup(const rclcpp_lifecycle::State&) {
  enable_.reset();
  report_.reset();
  core_.reset();
  source_.reset();
  return CallbackReturn::SUCCESS;
}

Settings InverseDynamicsController::settings() const {
  Settings settings;
  settings.mode = mode_of(parameters_.mode);
  settings.joints = parameters_.joints;
  settings.measured_joints = parameters_.measured_joints;
  settings.assumed_joints = parameters_.assumed_joints;
  settings.assumed_positions = parameters_.assumed_positions;
  settings.position_gains = parameters_.position_gains;
  settings.velocity_gains = parameters_.velocity_gains;
  settings.effort_limits = parameters_.effort_limits;
  settings.effort_limit_factor = parameters_.effort_limit_factor;
  settings.passes_position = has(parameters_.command_interfaces, "position");
  settings.passes_velocity = has(parameters_.command_interfaces, "velocity");
  settings.period = 1.0 / std::max(get_update_rate(), 1u);
  settings.feedback_delay = parameters_.feedback_delay;
  settings.blend_time = parameters_.blend_time;
  settings.braking_time = parameters_.braking_time;
  settings.guiding_time = parameters_.guiding_time;
  settings.state_timeout = parameters_.state_timeout;
  settings.hold_tolerance = parameters_.hold_tolerance;
  settings.path_tolerance = parameters_.path_tolerance;
  settings.trip_deviation = parameters_.trip_deviation;
  settings.trip_velocity_factor = parameters_.trip_velocity_factor;
  settings.external_effort_gain = parameters_.external_effort_gain;
  return settings;
}

void InverseDynamicsController::take_request(
    const std_srvs::srv::SetBool::Request& request, std_srvs::srv::SetBool::Response& response) {
  response.success =
      !request.data || status_.state != State::fault || status_.fastest < slow_enough;
  if (!response.success) {
    response.message = "a fault is not ended while a joint moves: wait until the arm rests";
    return;
  }
  is_enabled_ = request.data;
  if (request.data) ++enabled_count_;
  response.message = request.data
                         ? "references may be followed: /diagnostics has what is done"
                         : "the arm is braked: deactivate the controller when it rests";
}

// ---- Interfaces --------------------------------------------------------------------------------

InterfaceConfiguration InverseDynamicsController::command_interface_configuration() const {
  std::vector<std::string> kinds = {"effort"};  // the first one of each joint
  for (const char* kind : {"position", "velocity"})
    if (has(parameters_.command_interfaces, kind)) kinds.push_back(kind);
  return interfaces(parameters_.joints, kinds);
}

InterfaceConfiguration InverseDynamicsController::state_interface_configuration() const {
  InterfaceConfiguration claimed = interfaces(parameters_.joints, {"position", "velocity"});
  for (const std::vector<std::string>& others :
       {interfaces(parameters_.measured_joints, {"position", "velocity"}).names,
        has(parameters_.state_interfaces, "effort")
            ? interfaces(parameters_.joints, {"effort"}).names
            : std::vector<std::string>()})
    claimed.names.insert(claimed.names.end(), others.begin(), others.end());
  return claimed;
}

std::vector<std::string> InverseDynamicsController::reference_names() const {
  if (parameters_.mode == "gravity_compensation") return {};
  if (parameters_.mode == "effort") return {"effort"};
  std::vector<std::string> names;
  for (const char* kind : {"position", "velocity", "acceleration"})
    if (has(parameters_.reference_interfaces, kind)) names.push_back(kind);
  return names;
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
InverseDynamicsController::on_export_reference_interfaces_list() {
  references_.clear();
  const std::string prefix = std::string(get_node()->get_name()) + "/";
  for (const std::string& kind : reference_names())
    for (const std::string& joint : parameters_.joints)
      references_.push_back(
          std::make_shared<hardware_interface::CommandInterface>(prefix + joint, kind));
  return references_;
}

std::vector<hardware_interface::StateInterface::SharedPtr>
InverseDynamicsController::on_export_state_interfaces_list() {
  exports_.clear();
  const std::string prefix = std::string(get_node()->get_name()) + "/";
  for (const char* kind : {"model_effort", "external_effort"})
    for (const std::string& joint : parameters_.joints)
      exports_.push_back(
          std::make_shared<hardware_interface::StateInterface>(prefix + joint, kind));
  return exports_;
}

bool InverseDynamicsController::on_set_chained_mode(bool) {
  forget_references();  // those of another controller mean nothing any more
  return true;
}

// ---- The control loop --------------------------------------------------------------------------

return_type InverseDynamicsController::update_reference_from_subscribers(
    const rclcpp::Time&, const rclcpp::Duration&) {
  return return_type::OK;  // there are none: without a controller in front, gravity is held
}

return_type InverseDynamicsController::update_and_write_commands(
    const rclcpp::Time&, const rclcpp::Duration& period) {
  read_states();
  read_references();
  source_->set_positions(core_->measured().q);
  const ModelParameters& parameters = source_->parameters();
  if (parameters.number != parameters_number_) {
    parameters_number_ = parameters.number;
    core_->set_parameters(parameters.values.data());
  }
  const bool is_held = core_->update({is_enabled_, enabled_count_}, period.seconds());
  status_.state = core_->state();
  status_.reason = core_->reason();
  status_.fastest = core_->fastest();
  write_commands();
  write_exports();
  return is_held ? return_type::OK : return_type::ERROR;
}

void InverseDynamicsController::read_states() {
  // A state that cannot be read in this cycle, because another thread holds it, stays as it was.
  Measured& measured = core_->measured();
  std::size_t next = 0;
  for (std::size_t i = 0; i < q_places_.size(); ++i) {
    double& q = measured.q[q_places_[i]];
    double& qd = measured.qd[v_places_[i]];
    q = state_interfaces_[next++].get_optional().value_or(q);
    qd = state_interfaces_[next++].get_optional().value_or(qd);
  }
  for (std::size_t i = 0; next < state_interfaces_.size(); ++i, ++next)
    measured.effort[i] = state_interfaces_[next].get_optional().value_or(measured.effort[i]);
}

void InverseDynamicsController::read_references() {
  if (references_.empty()) return;
  Reference& reference = core_->reference();
  std::size_t next = 0;
  const auto read = [&](const char* kind, std::vector<double>& values) {
    const bool is_written = parameters_.mode == "effort"
                                ? &values == &reference.effort
                                : has(parameters_.reference_interfaces, kind);
    for (double& value : values)
      value = is_written ? references_[next++]->get_optional().value_or(nan) : 0.0;
  };
  if (parameters_.mode == "effort") return read("effort", reference.effort);
  read("position", reference.position);
  read("velocity", reference.velocity);
  read("acceleration", reference.acceleration);
}

void InverseDynamicsController::forget_references() {
  for (const auto& reference : references_) (void)reference->set_value(nan);
}

void InverseDynamicsController::write_commands() {
  // A command that cannot be written in this cycle stays as it was.
  const Command& command = core_->command();
  const Settings& settings = core_->settings();
  std::size_t next = 0;
  for (std::size_t i = 0; i < command.effort.size(); ++i) {
    (void)command_interfaces_[next++].set_value(command.effort[i]);
    if (settings.passes_position) (void)command_interfaces_[next++].set_value(command.position[i]);
    if (settings.passes_velocity) (void)command_interfaces_[next++].set_value(command.velocity[i]);
  }
}

void InverseDynamicsController::write_exports() {
  std::size_t next = 0;
  for (double effort : core_->model_effort()) (void)exports_[next++]->set_value(effort);
  for (double effort : core_->external_effort()) (void)exports_[next++]->set_value(effort);
}

}  // namespace ros2_rnea_controller

PLUGINLIB_EXPORT_CLASS(
    ros2_rnea_controller::InverseDynamicsController,
    controller_interface::ChainableControllerInterface)
