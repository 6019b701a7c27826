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

#ifndef ROS2_RNEA_CONTROLLER__MOMENTUM_OBSERVER_HPP_
#define ROS2_RNEA_CONTROLLER__MOMENTUM_OBSERVER_HPP_

#include <cstddef>
#include <vector>

#include "dynamics.hpp"

namespace ros2_rnea_controller {

/// Estimates the effort that the environment exerts on the joints, from momentum.
///
/// The estimate follows it as a filter of first order (De Luca and Mattone, ICRA 2005), without an
/// acceleration and without the inverse of the mass matrix.
class MomentumObserver {
 public:
  /// \param gain inverse of the filter's time constant [1/s].
  /// \param joints places of the observed joints among the robot's velocities.
  /// \param bounds of the magnitude of each joint's sample [Nm or N].
  MomentumObserver(
      double gain, std::vector<std::size_t> joints, std::vector<double> bounds, std::size_t nv);

  /// Begins anew: there is no sample to compare with, and no external effort.
  void restart();

  /// Keeps the estimate, but compares the next sample with none before: the model is new.
  void forget_momentum() { has_sample_ = false; }

  /// Takes a sample.
  /// \param efforts that the motors exert on the observed joints.
  void update(
      Dynamics& dynamics, const double* q, const double* qd, const double* efforts, double period);

  const std::vector<double>& estimate() const { return estimate_; }

 private:
  double gain_;
  std::vector<std::size_t> joints_;
  std::vector<double> bounds_, estimate_, momentum_, rate_, terms_;
  bool has_sample_ = false;
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__MOMENTUM_OBSERVER_HPP_
