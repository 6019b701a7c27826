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

#ifndef ROS2_RNEA_CONTROLLER__CONTROL_CORE_HPP_
#define ROS2_RNEA_CONTROLLER__CONTROL_CORE_HPP_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dynamics.hpp"
#include "hand_over.hpp"
#include "momentum_observer.hpp"
#include "settings.hpp"
#include "state_watch.hpp"

namespace ros2_rnea_controller {

/// What the controller does.  docs/controller.rst has the table of states.
enum class State { gravity, tracking, braking, fault };

/// Why it does not follow its references.
enum class Reason {
  none,
  no_reference,
  far_reference,
  doubled_gravity,
  large_reference,
  disabled,
  deviation,
  speed,
  unusable_states
};

/// The words for diagnostics, for as long as the program runs.
const char* name_of(State state);
const char* name_of(Reason reason);

/// What is measured: nq and nv numbers of the robot, and the efforts of controlled joints.
struct Measured {
  std::vector<double> q, qd, effort;
};

/// What another controller wants, of the controlled joints; NaN: nothing.
struct Reference {
  std::vector<double> position, velocity, acceleration, effort;
};

/// What people want.
struct Request {
  bool is_enabled = true;
  uint32_t enabled_count = 0;  ///< how often it was enabled; once more ends a fault
};

/// What the hardware gets, for each controlled joint.
struct Command {
  std::vector<double> effort, position, velocity;
};

/// Decides in each cycle what the joints get.  Nothing in update() allocates, waits or throws.
class ControlCore {
 public:
  /// \throws Error where the settings do not fit the model.
  ControlCore(std::shared_ptr<const Model> model, const Settings& settings);

  const Settings& settings() const { return settings_; }
  Dynamics& dynamics() { return dynamics_; }

  Measured& measured() { return measured_; }
  Reference& reference() { return reference_; }
  const Command& command() const { return command_; }

  /// Places of a joint's numbers in measured().
  std::size_t q_place(const std::string& joint) const;
  std::size_t v_place(const std::string& joint) const;

  /// Returns why the arm cannot be held at measured() with these parameters: a joint that needs more
  /// than its limit, or a model that gives no finite effort.  Empty: it can, or a position that is
  /// not finite is for start() to refuse.
  std::string reason_not_to_start();

  /// Begins, with the effort of each joint that the hardware holds; NaN: it holds none.
  /// Returns whether the states can be used.
  bool start(const double* held);

  /// Takes measured() and reference(), and makes command().
  /// Returns false where states have been unusable for too long: then nothing can be held.
  bool update(const Request& request, double period);

  /// Makes the command that holds the measured state, without damping.  Returns false where it
  /// cannot be used: then it is that of the last state that could.
  bool hold();

  /// Takes other numbers of the model, as many as it has parameters.
  void set_parameters(const double* values);

  State state() const { return state_; }
  Reason reason() const { return unusable_for_ > 0.0 ? Reason::unusable_states : reason_; }
  bool is_at_rest() const;  ///< by speeds from which noise is filtered
  double fastest() const;   ///< largest measured speed of a controlled joint; NaN: none is known

  /// The model's part of the command, of the controlled joints.
  const std::vector<double>& model_effort() const { return hand_over_.sent(); }

  /// Of the environment on the controlled joints; zeros where there is no observer.
  const std::vector<double>& external_effort() const { return observer_.estimate(); }

 private:
  std::size_t count() const { return places_.size(); }
  bool are_states_usable(double period);
  bool has_reference() const;
  double error(std::size_t joint) const;
  double largest_error() const;
  bool contains_gravity(const std::vector<double>& efforts);
  bool is_large(const std::vector<double>& efforts) const;
  bool is_too_fast() const;
  double known_effort(std::size_t joint, double held) const;
  bool holds(std::size_t joint, double known) const;
  void take_needed();
  void decide(const Request& request);
  void follow();
  bool compute();
  bool compute_reference();
  bool compute_feedback();
  bool compute_damping(double time);
  void observe(double period);
  void send();

  std::shared_ptr<const Model> model_;
  Settings settings_;
  Dynamics dynamics_;
  HandOver hand_over_;
  MomentumObserver observer_;
  StateWatch watch_;
  Measured measured_;
  Reference reference_;
  Command command_;
  std::vector<std::size_t> q_places_, places_;  // of controlled joints in q, and in velocities
  std::vector<bool> turns_;                     // a joint that turns without end
  std::vector<double> velocity_limits_, effort_limits_;
  // Of the robot, and of its controlled joints: what the model needs, and feedback or damping.
  std::vector<double> q_, qd_, qdd_, tau_, positions_, velocities_, needed_, feedback_;
  std::vector<double> smooth_, efforts_, last_q_;  // of the last usable state
  State state_ = State::gravity;
  Reason reason_ = Reason::none;
  double law_change_ = 0.0;  // how long to hand over to other parameters or new states [s]
  bool is_stopping_ = false;  // after a joint was too fast in gravity_compensation
  int fast_states_ = 0;       // in succession
  uint32_t enabled_count_ = 0;
  double unusable_for_ = 0.0;  // [s]
  double left_for_ = 0.0;      // since references were followed last [s]
  double share_ = 0.0;         // of the feedback that is sent, while it begins
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__CONTROL_CORE_HPP_
