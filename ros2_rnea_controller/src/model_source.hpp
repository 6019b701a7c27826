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

#ifndef ROS2_RNEA_CONTROLLER__MODEL_SOURCE_HPP_
#define ROS2_RNEA_CONTROLLER__MODEL_SOURCE_HPP_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "callback_gate.hpp"
#include "control_core.hpp"
#include "parameter_check.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "ros2_rnea_interfaces/msg/model.hpp"
#include "ros2_rnea_interfaces/msg/model_parameters.hpp"

namespace ros2_rnea_controller {

/// Parameters of a model that were judged and may be used.
struct ModelParameters {
  uint32_t number = 0;  ///< another one for each change; 0: there is none yet
  std::vector<double> values;
};

/// Where the model comes from, and its parameters as they change.
///
/// Messages are judged in the threads of the node.  The control loop takes what was accepted: a
/// model when it becomes active, parameters in each cycle.
class ModelSource {
 public:
  /// \param description the robot description that the model has to fit; empty: any.
  ModelSource(
      rclcpp_lifecycle::LifecycleNode& node, const Settings& settings, std::string description);

  /// Takes a model from a file.
  /// \throws Error where it is none, or does not fit.
  void read(const std::string& path);

  /// Takes models and parameters from topics, of which TOPIC_parameters has the second.
  void subscribe(const std::string& topic);

  /// Waits until there is a model; throws Error where none has come in time.
  void wait(const std::string& topic, double seconds);

  /// Whether models are refused, since one is in use; parameters are taken at any time.
  void set_in_use(bool is_in_use) { is_in_use_ = is_in_use; }

  /// The newest model that fits, ready to run; nullptr: there is none, or it just arrives.
  std::shared_ptr<ControlCore> model();

  /// The newest parameters, for the control loop.
  const ModelParameters& parameters() { return *accepted_.readFromRT(); }

  /// Tells where the arm is, so that parameters can be judged there; for the control loop.
  void set_positions(const std::vector<double>& q);

  /// Says that nothing measures any more; before set_in_use(false).
  void forget_positions();

  /// Judges parameters again that were refused at another position of the arm, and takes them
  /// where they can be used now; and those that are held back, where nothing was in use at the last
  /// call, too.  To be called now and then, by a thread that nothing waits for.
  void judge_again();

  /// What to do about parameters that are held back, since another publisher than that of those in
  /// use has sent them to an active controller; empty: there are none.
  const char* held_back() const;

  /// Why the last model or parameters were refused; empty: they were not.
  std::string refusal();

 private:
  using Publisher = std::array<uint8_t, RMW_GID_STORAGE_SIZE>;
  struct Given {
    ros2_rnea_interfaces::msg::ModelParameters message;
    Publisher publisher{};
  };
  struct Candidate {
    std::shared_ptr<const Model> model;
    std::shared_ptr<ControlCore> core;
    std::unique_ptr<ParameterCheck> check;
    uint32_t number = 0;  // of its first parameters
  };

  void use(std::shared_ptr<const Model> model);
  void take(const ros2_rnea_interfaces::msg::Model& message);
  void take(const Given& given);
  void take(const std::vector<double>& values);
  void take_early();
  void accept(const std::vector<double>& values);
  std::vector<double> positions() const;
  void refuse(const std::string& what, const std::string& reason);
  void forget_refusal();

  rclcpp_lifecycle::LifecycleNode& node_;
  Settings settings_;
  std::string description_;
  std::mutex mutex_;  // of the candidate; the control loop only tries it
  Candidate candidate_;
  std::mutex refusal_mutex_;
  std::string refusal_;

  // Of the callbacks, of which one runs at a time.
  std::set<uint32_t> checksums_;  // of the messages whose model it is
  std::vector<double> values_;
  std::vector<double> waiting_;  // the newest parameters, which were refused; empty: values_ are
  std::optional<Publisher> publisher_;  // of the parameters in use; zeros: it has lost its robot
  Given early_;                         // parameters that came before their model
  Given held_back_;
  std::atomic<bool> is_held_back_{false};
  bool was_in_use_ = false;  // when parameters were judged again last

  realtime_tools::RealtimeBuffer<ModelParameters> accepted_;
  uint32_t number_ = 0;
  std::atomic<bool> is_in_use_{false};
  std::unique_ptr<std::vector<std::atomic<double>>> positions_;  // the control loop's, in use
  rclcpp::Subscription<ros2_rnea_interfaces::msg::Model>::SharedPtr models_;
  rclcpp::Subscription<ros2_rnea_interfaces::msg::ModelParameters>::SharedPtr parameters_;
  CallbackGate gate_;  // the last member: it closes before the others go
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__MODEL_SOURCE_HPP_
