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
#include <string>
#include <utility>

namespace ros2_rnea_controller {

namespace {

constexpr uint32_t known_inputs = RNEA_Q | RNEA_QD | RNEA_QDD | RNEA_PARAMETERS;

bool all_finite(const double* values, std::size_t count) {
  return std::all_of(values, values + count, [](double each) { return std::isfinite(each); });
}

}  // namespace

Dynamics::Dynamics(std::shared_ptr<const Model> model)
    : model_(std::move(model)),
      inverse_dynamics_(tape("inverse_dynamics")),
      gravity_(tape("gravity")),
      friction_(tape("friction")),
      coriolis_(nullptr),
      momentum_(model_->has("joint_momentum") ? tape("joint_momentum", 2) : nullptr),
      gravity_parameter_(model_->parameter("gravity")),
      hardware_adds_(!model_->text(model_->tapes().header->left_out).empty()),
      holds_only_(model_->is_left_out("inertia")),
      adds_gravity_(model_->is_left_out("gravity")),
      adds_coriolis_(model_->is_left_out("coriolis") && !holds_only_),
      adds_friction_(model_->is_left_out("friction") && !holds_only_),
      parameters_(model_->parameters(), model_->parameters() + model_->parameter_count()),
      parameters_of_arm_(parameters_),
      registers_(model_->tapes().registers),
      term_(model_->nv()),
      at_rest_(model_->nv(), 0.0) {
  if (adds_coriolis_) coriolis_ = tape("coriolis_effort");
  if (gravity_parameter_ && gravity_parameter_->count != 3)
    throw Error("the gravity of the model is no vector: export it again");
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
  return is_finite && all_finite(out, model_->nv());
}

bool Dynamics::holding_effort(const double* q, double* out) {
  const double* rest = at_rest_.data();
  bool is_finite = run(inverse_dynamics_, q, rest, rest, out, parameters_);
  if (adds_gravity_) is_finite &= add(-1.0, gravity_, q, rest, out, parameters_of_arm_);
  if (adds_friction_ || holds_only_)
    is_finite &= add(-1.0, friction_, q, rest, out, parameters_);  // its offset
  return is_finite && all_finite(out, model_->nv());
}

bool Dynamics::inertia(const double* q, const double* qdd, double* out) {
  const double* rest = at_rest_.data();
  bool is_finite = run(inverse_dynamics_, q, rest, qdd, out, parameters_);
  is_finite &= run(inverse_dynamics_, q, rest, rest, term_.data(), parameters_);
  for (std::size_t i = 0; i < term_.size(); ++i) out[i] -= term_[i];
  return is_finite && all_finite(out, model_->nv());
}

bool Dynamics::added_by_hardware(const double* q, const double* qd, double* out) {
  std::fill_n(out, model_->nv(), 0.0);
  bool is_finite = !holds_only_;  // else a position loop of the hardware adds the rest
  if (adds_gravity_) is_finite &= add(1.0, gravity_, q, qd, out, parameters_of_arm_);
  if (adds_coriolis_) is_finite &= add(1.0, coriolis_, q, qd, out, parameters_);
  if (adds_friction_) is_finite &= add(1.0, friction_, q, qd, out, parameters_);
  return is_finite && all_finite(out, model_->nv());
}

bool Dynamics::momentum(const double* q, const double* qd, double* out) {
  const rnea_inputs inputs = {q, qd, nullptr, nullptr, nullptr, parameters_.data()};
  return momentum_ &&
         rnea_run(&model_->tapes(), momentum_, &inputs, registers_.data(), out) == RNEA_DONE;
}

/// Returns a tape that run() can execute: others would read or write beyond the arrays.
const rnea_tape* Dynamics::tape(const char* quantity, std::size_t rows) const {
  const rnea_tape& tape = model_->tape(quantity);
  if (tape.inputs & ~known_inputs)
    throw Error(
        std::string("the quantity '") + quantity +
        "' of the model reads efforts or wrenches: export it without --wrenches");
  if (static_cast<std::size_t>(tape.rows) * tape.columns != rows * model_->nv())
    throw Error(
        std::string("the quantity '") + quantity +
        "' of the model has not one number for each velocity: export it again");
  return &tape;
}

bool Dynamics::run(
    const rnea_tape* tape, const double* q, const double* qd, const double* qdd, double* out,
    const std::vector<double>& parameters) {
  const rnea_inputs inputs = {q, qd, qdd, nullptr, nullptr, parameters.data()};
  if (rnea_run(&model_->tapes(), tape, &inputs, registers_.data(), out) != RNEA_DONE) return false;
  return all_finite(out, model_->nv());
}

bool Dynamics::add(
    double factor, const rnea_tape* tape, const double* q, const double* qd, double* out,
    const std::vector<double>& parameters) {
  const bool is_finite = run(tape, q, qd, at_rest_.data(), term_.data(), parameters);
  for (std::size_t i = 0; i < term_.size(); ++i) out[i] += factor * term_[i];
  return is_finite;
}

}  // namespace ros2_rnea_controller
