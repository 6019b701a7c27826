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

#ifndef ROS2_RNEA_CONTROLLER__PARAMETER_CHECK_HPP_
#define ROS2_RNEA_CONTROLLER__PARAMETER_CHECK_HPP_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "dynamics.hpp"
#include "settings.hpp"

namespace ros2_rnea_controller {

/// Judges other parameters of the model before the control loop takes them.
///
/// It computes in memory of its own, and runs in a thread that nothing waits for.
class ParameterCheck {
 public:
  ParameterCheck(std::shared_ptr<const Model> model, const Settings& settings);

  /// Returns why the parameters are refused; empty: they can be used.
  ///
  /// Each has to be a finite number within the bounds of the model file.  With them, no joint may
  /// need more than its effort limit to hold the measured positions, and the mass matrix has to be
  /// positive definite there, else damping would drive the arm; unless it is so already.
  ///
  /// \param q the measured positions, nq numbers; nullptr: they are not known, and only the
  ///   bounds are looked at.
  /// \param before the parameters in use.
  std::string reason_to_refuse(
      const std::vector<double>& values, const std::vector<double>& before, const double* q);

 private:
  std::string out_of_bounds(const std::vector<double>& values) const;
  std::vector<double> shares(const std::vector<double>& values, const double* q);
  bool is_mass_positive(const double* q);

  std::shared_ptr<const Model> model_;
  Settings settings_;
  Dynamics dynamics_;
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__PARAMETER_CHECK_HPP_
