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

#ifndef ROS2_RNEA_CONTROLLER__INVERSE_DYNAMICS_CONTROLLER_HPP_
#define ROS2_RNEA_CONTROLLER__INVERSE_DYNAMICS_CONTROLLER_HPP_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "callback_gate.hpp"
#include "control_core.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "model_source.hpp"
#include "ros2_rnea_controller/inverse_dynamics_controller_parameters.hpp"
#include "status_report.hpp"
#include "std_srvs/srv/set_bool.hpp"

namespace ros2_rnea_controller {

/// Carries interfaces of ros2_control to a ControlCore and back; it decides nothing itself.
class InverseDynamicsController : public controller_interface::ChainableControllerInterface {
 public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State&) override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State&) override;
  controller_interface::CallbackReturn on_deactivate(const rclcpp_lifecycle::State&) override;
  controller_interface::CallbackReturn on_cleanup(const rclcpp_lifecycle::State&) override;

  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

 protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() override;
  std::vector<hardware_interface::StateInterface::SharedPtr>
  on_export_state_interfaces_list() override;
  bool on_set_chained_mode(bool chained_mode) override;

  controller_interface::return_type update_reference_from_subscribers(
      const rclcpp::Time&, const rclcpp::Duration&) override;
  controller_interface::return_type update_and_write_commands(
      const rclcpp::Time&, const rclcpp::Duration& period) override;

 private:
  Settings settings() const;
  std::vector<std::string> reference_names() const;
  void take_request(
      const std_srvs::srv::SetBool::Request& request, std_srvs::srv::SetBool::Response& response);
  void read_states();
  void read_references();
  void forget_references();
  void write_commands();
  void write_exports();

  std::shared_ptr<ParamListener> parameter_listener_;
  Params parameters_;
  std::unique_ptr<ModelSource> source_;
  std::unique_ptr<StatusReport> report_;
  rclcpp::Service<std_srvs::srv::SetBool>::SharedPtr enable_;
  Status status_;
  std::atomic<bool> is_enabled_{true};
  std::atomic<uint32_t> enabled_count_{0};

  // Of the control loop.
  std::shared_ptr<ControlCore> core_;
  uint32_t parameters_number_ = 0;
  std::vector<std::size_t> q_places_, v_places_;  // of joints, and then of measured joints
  std::vector<hardware_interface::CommandInterface::SharedPtr> references_;
  std::vector<hardware_interface::StateInterface::SharedPtr> exports_;

  CallbackGate gate_;  // the last member: it closes before the others go
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__INVERSE_DYNAMICS_CONTROLLER_HPP_
