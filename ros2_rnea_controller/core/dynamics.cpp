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

#include "dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ros2_rnea_controller {

Dynamics::Dynamics(std::shared_ptr<const Model> model)
    : model_(std::move(model)),
      inverse_dynamics_(&model_->tape("inverse_dynamics")),
      gravity_(&model_->tape("gravity")),
      friction_(&model_->tape("friction")),
      coriolis_(rnea_find(&model_->tapes(), "coriolis_effort")),
      momentum_(rnea_find(&model_->tapes(), "joint_momentum")),
      gravity_parameter_(model_->parameter("gravity")),
      holds_only_(model_->is_left_out("inertia")),
      adds_gravity_(model_->is_left_out("gravity")),
      adds_coriolis_(model_->is_left_out("coriolis") && !holds_only_),
      adds_friction_(model_->is_left_out("friction") && !holds_only_),
      parameters_(model_->parameters(), model_->parameters() + model_->parameter_count()),
      parameters_of_arm_(parameters_),
      registers_(model_->tapes().registers),
      term_(model_->nv()),
      at_rest_(model_->nv(), 0.0) {
  if (adds_coriolis_) coriolis_ = &model_->tape("coriolis_effort");
  set_parameters(model_->parameters());
}

void Dynamics::set_parameters(const double* values) {
  std::copy_n(values, parameters_.size(), parameters_.begin());
  parameters_of_arm_ = parameters_;  // of the same size: nothing is allocated
  const double* compensated = model_->tapes().header->arm_gravity;
  if (gravity_parameter_ && std::isfinite(compensated[0]))
    std::copy_n(compensated, 3, parameters_of_arm_.begin() + gravity_parameter_->first);
}

bool Dynamics::effort(const Motion& motion, double* out) {
  if (holds_only_) return holding_effort(motion.q, out);
  bool is_finite = run(inverse_dynamics_, motion.q, motion.qd, motion.qdd, out, parameters_);
  if (adds_gravity_)
    is_finite &= add(-1.0, gravity_, motion.q, motion.qd, out, parameters_of_arm_);
  if (adds_coriolis_) is_finite &= add(-1.0, coriolis_, motion.q, motion.qd, out, parameters_);
  if (adds_friction_ || motion.friction_qd != motion.qd)
    is_finite &= add(-1.0, friction_, motion.q, motion.qd, out, parameters_);
  if (!adds_friction_ && motion.friction_qd != motion.qd)
    is_finite &= add(1.0, friction_, motion.q, motion.friction_qd, out, parameters_);
  return is_finite;
}

bool Dynamics::holding_effort(const double* q, double* out) {
  const double* rest = at_rest_.data();
  bool is_finite = run(inverse_dynamics_, q, rest, rest, out, parameters_);
  if (adds_gravity_) is_finite &= add(-1.0, gravity_, q, rest, out, parameters_of_arm_);
  if (adds_friction_ || holds_only_)
    is_finite &= add(-1.0, friction_, q, rest, out, parameters_);  // its offset
  return is_finite;
}

bool Dynamics::inertia(const double* q, const double* qdd, double* out) {
  const double* rest = at_rest_.data();
  bool is_finite = run(inverse_dynamics_, q, rest, qdd, out, parameters_);
  is_finite &= run(inverse_dynamics_, q, rest, rest, term_.data(), parameters_);
  for (std::size_t i = 0; i < term_.size(); ++i) out[i] -= term_[i];
  return is_finite;
}

bool Dynamics::momentum(const double* q, const double* qd, double* out) {
  const rnea_inputs inputs = {q, qd, nullptr, nullptr, nullptr, parameters_.data()};
  return momentum_ &&
         rnea_run(&model_->tapes(), momentum_, &inputs, registers_.data(), out) == RNEA_DONE;
}

bool Dynamics::run(
    const rnea_tape* tape, const double* q, const double* qd, const double* qdd, double* out,
    const std::vector<double>& parameters) {
  const rnea_inputs inputs = {q, qd, qdd, nullptr, nullptr, parameters.data()};
  if (rnea_run(&model_->tapes(), tape, &inputs, registers_.data(), out) != RNEA_DONE) return false;
  return std::all_of(out, out + model_->nv(), [](double each) { return std::isfinite(each); });
}

bool Dynamics::add(
    double factor, const rnea_tape* tape, const double* q, const double* qd, double* out,
    const std::vector<double>& parameters) {
  const bool is_finite = run(tape, q, qd, at_rest_.data(), term_.data(), parameters);
  for (std::size_t i = 0; i < term_.size(); ++i) out[i] += factor * term_[i];
  return is_finite;
}

}  // namespace ros2_rnea_controller
