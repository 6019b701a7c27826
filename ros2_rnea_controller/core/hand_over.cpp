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

#include "hand_over.hpp"

#include <algorithm>
#include <cmath>

namespace ros2_rnea_controller {

namespace {

constexpr double shortest_rise = 0.05;   // from zero to the effort limit [s]
constexpr double usual_rate = 1000.0;    // [Nm/s]; some arms stop beyond
constexpr double longest_rise = 0.15;    // however large the limit is [s]

double weight(double share) {
  return share < 1.0 ? (1.0 - share) * std::exp(-2.0 * share) : 0.0;
}

}  // namespace

HandOver::HandOver(const std::vector<double>& effort_limits)
    : sent_(effort_limits.size()), difference_(sent_), is_blended_(effort_limits.size(), true) {
  for (double limit : effort_limits)
    rates_.push_back(std::min(limit / shortest_rise, std::max(usual_rate, limit / longest_rise)));
}

void HandOver::start(std::size_t joint, double effort, bool holds) {
  sent_[joint] = effort;
  is_blended_[joint] = holds;
}

void HandOver::begin(const double* needed, double duration) {
  for (std::size_t i = 0; i < sent_.size(); ++i)
    difference_[i] = is_blended_[i] ? sent_[i] - needed[i] : 0.0;
  elapsed_ = 0.0;
  duration_ = duration;
}

void HandOver::begin_within(const double* needed, double duration) {
  begin(needed, elapsed_ < duration_ ? std::min(duration, duration_) : duration);
}

void HandOver::update(const double* needed, double period) {
  elapsed_ += period;  // first: hand-overs that begin in each cycle make progress, too
  const double rest = duration_ > 0.0 ? weight(elapsed_ / duration_) : 0.0;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    const double change = needed[i] + rest * difference_[i] - sent_[i];
    const double largest = rates_[i] * period;
    is_blended_[i] = is_blended_[i] || std::fabs(change) <= largest;
    sent_[i] += std::clamp(change, -largest, largest);
  }
}

}  // namespace ros2_rnea_controller
