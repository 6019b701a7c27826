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

#include "momentum_observer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ros2_rnea_controller {

MomentumObserver::MomentumObserver(
    double gain, std::vector<std::size_t> joints, std::vector<double> bounds, std::size_t nv)
    : gain_(gain),
      joints_(std::move(joints)),
      bounds_(std::move(bounds)),
      estimate_(joints_.size()),
      momentum_(joints_.size()),
      rate_(joints_.size()),
      terms_(2 * nv) {}

void MomentumObserver::restart() {
  std::fill(estimate_.begin(), estimate_.end(), 0.0);
  has_sample_ = false;
}

void MomentumObserver::update(
    Dynamics& dynamics, const double* q, const double* qd, const double* efforts, double period) {
  if (!dynamics.momentum(q, qd, terms_.data()) || !(period > 0.0)) return restart();
  const double* rates = terms_.data() + terms_.size() / 2;
  const double share = -std::expm1(-gain_ * period);  // of a step that the filter passes
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const double momentum = terms_[joints_[i]], rate = rates[joints_[i]] + efforts[i];
    if (has_sample_) {
      double sample = (momentum - momentum_[i]) / period - 0.5 * (rate + rate_[i]);
      if (!std::isfinite(sample)) sample = 0.0;
      sample = std::clamp(sample, -bounds_[i], bounds_[i]);
      estimate_[i] += share * (sample - estimate_[i]);
    }
    momentum_[i] = momentum;
    rate_[i] = rate;
  }
  has_sample_ = true;
}

}  // namespace ros2_rnea_controller
