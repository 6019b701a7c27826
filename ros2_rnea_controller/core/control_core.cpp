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

#include "control_core.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace ros2_rnea_controller {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double two_pi = 6.283185307179586;
constexpr double fade_time = 0.05;      // of the former effort where damping begins [s]
constexpr double least_times = 4.0;     // shortest time constant of damping, in dead times
constexpr double friction_share = 0.3;  // of an effort that holds a joint against gravity, and
constexpr double friction_of_limit = 0.02;  // of its limit: what friction and errors may add
constexpr double largest_share = 0.2;   // of the effort limits, of a reference that begins
constexpr double doubled_share = 0.3;   // an effort that differs from gravity by less contains it
constexpr double least_gravity = 0.02;  // share of the effort limits that is worth a look
constexpr double rest_speed = 0.02;     // below which a joint rests [rad/s or m/s]
constexpr double filter_time = 0.05;    // of the velocities by which that is judged [s]
constexpr int fast_states = 3;          // that are a fault, since one may be wrong

bool all_finite(const std::vector<double>& values) {
  return std::all_of(
      values.begin(), values.end(), [](double each) { return std::isfinite(each); });
}

}  // namespace

const char* name_of(State state) {
  switch (state) {
    case State::gravity: return "GRAVITY";
    case State::tracking: return "TRACKING";
    case State::braking: return "BRAKING";
    default: return "FAULT";
  }
}

const char* name_of(Reason reason) {
  switch (reason) {
    case Reason::none: return "";
    case Reason::no_reference: return "no controller writes finite references";
    case Reason::far_reference:
      return "the reference is farther from the arm than hold_tolerance: move it there";
    case Reason::doubled_gravity:
      return "the reference efforts contain gravity already: let one of both add it";
    case Reason::large_reference:
      return "the reference efforts begin with more than 20 % of the limits: activate the "
             "controller in front again";
    case Reason::disabled: return "~/enable was called with false";
    case Reason::deviation:
      return "the arm was too far from its reference: look for the cause, then call ~/enable";
    case Reason::speed:
      return "a joint was faster than its limit: look for the cause; ~/enable ends a fault";
    default: return "states are not finite, or are repeated although they say that joints move";
  }
}

ControlCore::ControlCore(std::shared_ptr<const Model> model, const Settings& settings)
    : model_(model),
      settings_(checked(settings, *model)),
      dynamics_(model),
      hand_over_(settings_.effort_limits),
      observer_(0.0, {}, {}, 0),
      watch_(settings_.joints.size()) {
  for (const std::string& name : settings_.joints) {
    q_places_.push_back(q_place(name));
    places_.push_back(v_place(name));
    turns_.push_back(model_->text(model_->joint(name).type) == "continuous");
    const double limit = model_->joint(name).velocity;
    velocity_limits_.push_back(limit > 0.0 ? limit : std::numeric_limits<double>::infinity());
  }
  for (double limit : settings_.effort_limits)
    effort_limits_.push_back(settings_.effort_limit_factor * limit);
  if (settings_.external_effort_gain > 0.0) model_->tape("joint_momentum");
  observer_ = MomentumObserver(
      settings_.external_effort_gain, places_, settings_.effort_limits, model_->nv());
  const std::vector<double> nothing(count(), nan), zeros(count());
  measured_ = {std::vector<double>(model_->nq()), std::vector<double>(model_->nv()), nothing};
  for (std::size_t i = 0; i < settings_.assumed_joints.size(); ++i)
    measured_.q[q_place(settings_.assumed_joints[i])] = settings_.assumed_positions[i];
  reference_ = {nothing, nothing, nothing, nothing};
  command_ = {zeros, nothing, zeros};
  for (auto* each : {&q_, &last_q_}) each->resize(model_->nq());
  for (auto* each : {&qd_, &qdd_, &tau_}) each->resize(model_->nv());
  for (auto* each : {&positions_, &velocities_, &needed_, &feedback_, &smooth_, &efforts_})
    each->resize(count());
}

std::size_t ControlCore::q_place(const std::string& joint) const { return model_->joint(joint).q; }
std::size_t ControlCore::v_place(const std::string& joint) const { return model_->joint(joint).v; }

std::string ControlCore::reason_not_to_start() {
  if (!all_finite(measured_.q)) return {};
  if (!dynamics_.holding_effort(measured_.q.data(), tau_.data()))
    return "the model gives no finite effort at the measured position: check model and payloads";
  for (std::size_t i = 0; i < count(); ++i) {
    const double needed = tau_[places_[i]];
    if (std::fabs(needed) <= effort_limits_[i]) continue;
    const char* unit = model_->text(model_->joint(settings_.joints[i]).unit) == "m" ? "N" : "Nm";
    std::ostringstream reason;
    reason << "joint '" << settings_.joints[i] << "' needs " << needed << " " << unit
           << " to hold the measured position, and its limit is " << effort_limits_[i] << " "
           << unit << ", with effort_limit_factor: correct it, the payloads or the model, or move "
           << "the arm";
    return reason.str();
  }
  return {};
}

bool ControlCore::start(const double* held) {
  state_ = State::gravity;
  reason_ = Reason::none;
  is_stopping_ = false;
  fast_states_ = 0;
  law_change_ = unusable_for_ = share_ = 0.0;
  left_for_ = std::numeric_limits<double>::infinity();
  observer_.restart();
  if (!are_states_usable(0.0) || !compute()) return false;
  for (std::size_t i = 0; i < count(); ++i) {
    const double known = known_effort(i, held[i]);
    const double first = std::isfinite(known) ? known : 0.0;
    hand_over_.start(
        i, std::clamp(first, -effort_limits_[i], effort_limits_[i]), holds(i, known));
    command_.position[i] = positions_[i];
    command_.velocity[i] = 0.0;
  }
  hand_over_.begin(needed_.data(), settings_.blend_time);
  command_.effort = hand_over_.sent();
  smooth_ = velocities_;
  return true;
}

/// Returns the effort of a joint before the first command; NaN: it is not known.
double ControlCore::known_effort(std::size_t joint, double held) const {
  if (std::isfinite(held)) return held;
  // Where a position loop or the hardware adds efforts, the measured one has them already.
  const bool is_all_ours = settings_.moves_alone() && !dynamics_.hardware_adds();
  return is_all_ours ? measured_.effort[joint] : 0.0;
}

/// Returns whether that effort is what holds the joint, if nothing but efforts moves it.
bool ControlCore::holds(std::size_t joint, double known) const {
  if (!settings_.moves_alone()) return true;  // a position loop does
  // At rest, an effort that is far from the needed one does not: brakes do, or a mode of the
  // hardware that ends now.  A blend from there would let the arm fall.
  const double needed = needed_[joint];
  const double friction =
      friction_share * std::fabs(needed) + friction_of_limit * effort_limits_[joint];
  return std::isfinite(known) && (fastest() >= rest_speed || std::fabs(known - needed) <= friction);
}

bool ControlCore::update(const Request& request, double period) {
  if (!(period > 0.0 && period < 0.1)) period = settings_.period;
  const State before = state_;
  bool is_usable = are_states_usable(period);
  if (is_usable) {
    decide(request);
    share_ = state_ != before           ? 0.0
             : settings_.blend_time > 0 ? std::min(1.0, share_ + period / settings_.blend_time)
                                        : 1.0;
    is_usable = compute();
    if (!is_usable && state_ == State::tracking) {  // for what is no motion of this robot
      state_ = State::gravity;
      reason_ = Reason::no_reference;
      is_usable = compute();
    }
  }
  if (!is_usable) {  // the model's last effort, without feedback
    unusable_for_ += period;
    law_change_ = std::max(law_change_, fade_time);
    std::fill(feedback_.begin(), feedback_.end(), 0.0);
    observer_.restart();
    send();
    return unusable_for_ <= settings_.state_timeout;
  }
  unusable_for_ = 0.0;
  const bool was_tracking = before == State::tracking, is_tracking = state_ == State::tracking;
  left_for_ = was_tracking ? 0.0 : left_for_ + period;
  if (is_tracking != was_tracking) {
    hand_over_.sent() = command_.effort;
    hand_over_.begin(needed_.data(), is_tracking ? settings_.blend_time : fade_time);
  } else if (law_change_ > 0.0 || state_ != before) {
    // Between states that damp, the damping of the last one is not handed over.
    hand_over_.begin_within(needed_.data(), state_ != before ? fade_time : law_change_);
  }
  law_change_ = 0.0;
  if (settings_.external_effort_gain > 0.0) observe(period);
  hand_over_.update(needed_.data(), period);
  send();
  return true;
}

bool ControlCore::hold() {
  const bool is_usable = all_finite(measured_.q);
  if (is_usable) last_q_ = measured_.q;
  if (!dynamics_.holding_effort(last_q_.data(), tau_.data())) return false;
  take_needed();
  hand_over_.sent() = needed_;
  std::fill(feedback_.begin(), feedback_.end(), 0.0);
  state_ = State::gravity;
  send();
  return is_usable;
}

void ControlCore::set_parameters(const double* values) {
  dynamics_.set_parameters(values);
  observer_.forget_momentum();
  law_change_ = settings_.blend_time;
}

bool ControlCore::is_at_rest() const {
  return unusable_for_ == 0.0 && std::all_of(smooth_.begin(), smooth_.end(), [](double each) {
           return std::fabs(each) < rest_speed;
         });
}

double ControlCore::fastest() const {
  double fastest = 0.0;
  for (std::size_t place : places_) {
    const double speed = std::fabs(measured_.qd[place]);
    if (!(speed <= fastest)) fastest = speed;
    if (std::isnan(speed)) break;
  }
  return fastest;
}

// ---- What is done ------------------------------------------------------------------------------

bool ControlCore::are_states_usable(double period) {
  for (std::size_t i = 0; i < count(); ++i) {
    positions_[i] = measured_.q[q_places_[i]];
    velocities_[i] = measured_.qd[places_[i]];
  }
  if (!watch_.update(positions_.data(), velocities_.data(), period) ||
      !all_finite(measured_.q) || !all_finite(measured_.qd))
    return false;
  last_q_ = measured_.q;  // of the same size: nothing is allocated
  const double share = -std::expm1(-period / filter_time);
  bool is_fast = false;
  for (std::size_t i = 0; i < count(); ++i) {
    smooth_[i] += share * (velocities_[i] - smooth_[i]);
    is_fast |= std::fabs(velocities_[i]) > settings_.trip_velocity_factor * velocity_limits_[i];
  }
  fast_states_ = is_fast ? std::min(fast_states_ + 1, fast_states) : 0;
  return true;
}

void ControlCore::decide(const Request& request) {
  const bool is_released = request.is_enabled && request.enabled_count != enabled_count_;
  enabled_count_ = request.enabled_count;
  if (state_ == State::fault && !is_released) return;
  reason_ = Reason::none;
  if (!request.is_enabled) {
    state_ = State::braking;
    reason_ = Reason::disabled;
  } else if (settings_.mode == Mode::gravity_compensation) {
    is_stopping_ = is_too_fast() || (is_stopping_ && !is_at_rest());
    state_ = is_stopping_ ? State::braking : State::gravity;
    if (is_stopping_) reason_ = Reason::speed;
  } else {
    follow();
  }
}

void ControlCore::follow() {
  const bool is_new = state_ != State::tracking, follows_motion = settings_.follows_motion();
  state_ = State::gravity;
  // What is handed over when references are lost has feedback in it.  It has to be over before
  // they are followed again: with each loss there would be more of it.
  if (!has_reference() || (is_new && left_for_ < fade_time)) {
    reason_ = Reason::no_reference;
  } else if (is_new && follows_motion && largest_error() > settings_.hold_tolerance) {
    reason_ = Reason::far_reference;
  } else if (!follows_motion && (is_new || share_ < 1.0) && contains_gravity(reference_.effort)) {
    reason_ = Reason::doubled_gravity;
  } else if (is_new && !follows_motion && is_large(reference_.effort)) {
    reason_ = Reason::large_reference;
  } else {
    state_ = State::tracking;
  }
  if (state_ != State::tracking || !settings_.moves_alone()) return;
  if (is_too_fast()) {
    state_ = State::fault;
    reason_ = Reason::speed;
  } else if (
      follows_motion &&
      largest_error() > settings_.trip_deviation * settings_.path_tolerance) {
    state_ = State::fault;
    reason_ = Reason::deviation;
  }
}

bool ControlCore::has_reference() const {
  return settings_.follows_motion()
             ? all_finite(reference_.position) && all_finite(reference_.velocity) &&
                   all_finite(reference_.acceleration)
             : all_finite(reference_.effort);
}

double ControlCore::error(std::size_t joint) const {
  const double error = reference_.position[joint] - positions_[joint];
  return turns_[joint] ? std::remainder(error, two_pi) : error;
}

double ControlCore::largest_error() const {
  double largest = 0.0;
  for (std::size_t i = 0; i < count(); ++i) largest = std::max(largest, std::fabs(error(i)));
  return largest;
}

bool ControlCore::is_large(const std::vector<double>& efforts) const {
  for (std::size_t i = 0; i < count(); ++i)
    if (std::fabs(efforts[i]) > largest_share * effort_limits_[i]) return true;
  return false;
}

bool ControlCore::is_too_fast() const { return fast_states_ == fast_states; }

bool ControlCore::contains_gravity(const std::vector<double>& efforts) {
  if (!dynamics_.holding_effort(measured_.q.data(), tau_.data())) return false;
  double gravity = 0.0, difference = 0.0, limit = 0.0;
  for (std::size_t i = 0; i < count(); ++i) {
    const double holding = tau_[places_[i]];
    gravity += holding * holding;
    difference += (efforts[i] - holding) * (efforts[i] - holding);
    limit += effort_limits_[i] * effort_limits_[i];
  }
  return gravity > least_gravity * least_gravity * limit &&
         difference < doubled_share * doubled_share * gravity;
}

// ---- What that needs ---------------------------------------------------------------------------

/// Keeps of an effort what the joints can exert: more is needed nowhere, and hands over nothing.
void ControlCore::take_needed() {
  for (std::size_t i = 0; i < count(); ++i)
    needed_[i] = std::clamp(tau_[places_[i]], -effort_limits_[i], effort_limits_[i]);
}

bool ControlCore::compute() {
  std::fill(feedback_.begin(), feedback_.end(), 0.0);
  if (state_ == State::tracking) return compute_reference();
  if (!dynamics_.holding_effort(measured_.q.data(), tau_.data())) return false;
  take_needed();
  const bool is_guided =
      settings_.mode == Mode::gravity_compensation && state_ == State::gravity;
  return compute_damping(is_guided ? settings_.guiding_time : settings_.braking_time);
}

bool ControlCore::compute_reference() {
  const double *q = measured_.q.data(), *qd = measured_.qd.data();
  for (auto* each : {&qd_, &qdd_}) std::fill(each->begin(), each->end(), 0.0);
  if (settings_.follows_motion()) {
    q_ = measured_.q;  // of the same size: nothing is allocated
    for (std::size_t i = 0; i < count(); ++i) {
      q_[q_places_[i]] = reference_.position[i];
      qd_[places_[i]] = reference_.velocity[i];
      qdd_[places_[i]] = reference_.acceleration[i];
    }
  }
  if (settings_.mode == Mode::feedforward) {
    q = q_.data();
    qd = qd_.data();
  }
  // Friction is that of the reference: where efforts are the reference, that of rest.
  if (!dynamics_.effort({q, qd, qdd_.data(), qd_.data()}, tau_.data())) return false;
  take_needed();
  if (settings_.mode == Mode::computed_torque) return compute_feedback();
  if (settings_.mode == Mode::effort)
    for (std::size_t i = 0; i < count(); ++i) feedback_[i] = share_ * reference_.effort[i];
  return true;
}

bool ControlCore::compute_feedback() {
  std::fill(qdd_.begin(), qdd_.end(), 0.0);
  const double largest = settings_.path_tolerance;
  for (std::size_t i = 0; i < count(); ++i)
    qdd_[places_[i]] =
        share_ * settings_.position_gains[i] * std::clamp(error(i), -largest, largest) +
        settings_.velocity_gains[i] * (reference_.velocity[i] - velocities_[i]);
  if (!dynamics_.inertia(measured_.q.data(), qdd_.data(), tau_.data())) return false;
  for (std::size_t i = 0; i < count(); ++i) feedback_[i] = tau_[places_[i]];
  return true;
}

bool ControlCore::compute_damping(double time) {
  if (!settings_.moves_alone() || time == 0.0) return true;
  time = std::max(time, least_times * (settings_.period + settings_.feedback_delay));
  std::fill(qdd_.begin(), qdd_.end(), 0.0);
  for (std::size_t i = 0; i < count(); ++i) qdd_[places_[i]] = -velocities_[i] / time;
  if (!dynamics_.inertia(measured_.q.data(), qdd_.data(), tau_.data())) return false;
  for (std::size_t i = 0; i < count(); ++i) feedback_[i] = tau_[places_[i]];
  return true;
}

void ControlCore::observe(double period) {
  const double *q = measured_.q.data(), *qd = measured_.qd.data();
  // What acted until now is the last command, and what the hardware adds; or it is measured.
  // That of hardware that adds terms may lack some of them, and is no effort of some makers.
  const double* efforts = measured_.effort.data();
  if (dynamics_.hardware_adds() || !all_finite(measured_.effort)) {
    if (!settings_.moves_alone() || !dynamics_.added_by_hardware(q, qd, tau_.data()))
      return observer_.restart();
    for (std::size_t i = 0; i < count(); ++i)
      efforts_[i] = command_.effort[i] + tau_[places_[i]];
    efforts = efforts_.data();
  }
  observer_.update(dynamics_, q, qd, efforts, period);
}

void ControlCore::send() {
  const bool is_tracking =
      state_ == State::tracking && settings_.follows_motion() && unusable_for_ == 0.0;
  for (std::size_t i = 0; i < count(); ++i) {
    command_.effort[i] = std::clamp(
        hand_over_.sent()[i] + feedback_[i], -effort_limits_[i], effort_limits_[i]);
    command_.velocity[i] = is_tracking ? reference_.velocity[i] : 0.0;
    if (is_tracking) command_.position[i] = reference_.position[i];
  }
}

}  // namespace ros2_rnea_controller
