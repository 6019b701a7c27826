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

#ifndef ROS2_RNEA_CONTROLLER__DYNAMICS_HPP_
#define ROS2_RNEA_CONTROLLER__DYNAMICS_HPP_

#include <cstddef>
#include <memory>
#include <vector>

#include "model.hpp"

namespace ros2_rnea_controller {

/// A motion of the whole robot; arrays of nq and nv numbers.
///
/// The velocity at which friction is computed has a place of its own: near rest the sign of a
/// measured velocity is noise, and friction that follows it would push a joint to and fro.
struct Motion {
  const double* q;
  const double* qd;
  const double* qdd;
  const double* friction_qd;
};

/// Computes efforts with the present parameters, in memory that is allocated once.
///
/// Every function writes nv numbers [Nm or N] and returns whether all of them are finite.
class Dynamics {
 public:
  /// \throws Error where the model lacks a tape that is needed, or has one of other sizes.
  explicit Dynamics(std::shared_ptr<const Model> model);

  const Model& model() const { return *model_; }
  const std::vector<double>& parameters() const { return parameters_; }
  bool hardware_adds() const { return hardware_adds_; }  ///< a term of the effort by itself
  void set_parameters(const double* values);

  /// The effort of a motion without the terms that the hardware adds by itself.
  bool effort(const Motion& motion, double* out);

  /// The effort that holds the robot still, without those terms.
  bool holding_effort(const double* q, double* out);

  /// M(q) qdd, the effort of an acceleration alone.
  bool inertia(const double* q, const double* qdd, double* out);

  /// What the hardware adds by itself to the efforts that it gets.
  bool added_by_hardware(const double* q, const double* qd, double* out);

  /// Momentum and, in nv further numbers, its rate without efforts: the tape joint_momentum.
  bool momentum(const double* q, const double* qd, double* out);

 private:
  const rnea_tape* tape(const char* quantity, std::size_t rows = 1) const;
  bool run(
      const rnea_tape* tape, const double* q, const double* qd, const double* qdd, double* out,
      const std::vector<double>& parameters);
  bool add(
      double factor, const rnea_tape* tape, const double* q, const double* qd, double* out,
      const std::vector<double>& parameters);

  std::shared_ptr<const Model> model_;
  const rnea_tape *inverse_dynamics_, *gravity_, *friction_, *coriolis_, *momentum_;
  const rnea_parameter* gravity_parameter_;
  bool hardware_adds_, holds_only_, adds_gravity_, adds_coriolis_, adds_friction_;
  std::vector<double> parameters_, parameters_of_arm_, registers_, term_, at_rest_;
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__DYNAMICS_HPP_
