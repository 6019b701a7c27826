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

#include "state_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ros2_rnea_controller {

namespace {

constexpr double farthest = 0.01;  // way of a joint whose position does not change [rad or m]
constexpr double slowest = 0.05;   // a slower velocity may be an error at rest [rad/s or m/s]
constexpr double longest = 0.02;   // between two readings of slow hardware [s]

}  // namespace

StateWatch::StateWatch(std::size_t joints)
    : q_(joints, std::numeric_limits<double>::quiet_NaN()), qd_(q_), way_(joints) {}

bool StateWatch::update(const double* q, const double* qd, double period) {
  bool are_usable = true;
  for (std::size_t i = 0; i < q_.size(); ++i) {
    const double speed = std::fabs(qd[i]);
    const bool is_repeated = q[i] == q_[i] && qd[i] == qd_[i] && speed > slowest;
    way_[i] = is_repeated ? way_[i] + speed * period : 0.0;
    q_[i] = q[i];
    qd_[i] = qd[i];
    are_usable &= std::isfinite(q[i]) && std::isfinite(qd[i]) &&
                  way_[i] <= std::max(farthest, speed * longest);
  }
  return are_usable;
}

}  // namespace ros2_rnea_controller
