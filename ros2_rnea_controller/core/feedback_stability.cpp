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

#include "feedback_stability.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace ros2_rnea_controller {

namespace {

constexpr std::size_t most_steps = 200000;
constexpr double least_decay = 0.2;  // of the response, from one third of the time to the last

bool decays(double kp, double kd, double period, double delay) {
  // After a transport delay of whole periods, the rest of the delay splits a period in two.
  const double periods = std::floor(delay / period);
  const double first = delay - periods * period;
  std::vector<double> queue(static_cast<std::size_t>(periods) + 2, 0.0);
  // The slowest mode has the rate kp / kd where damping is large, otherwise kd / 2.
  const double slowest = std::min(kp / kd, 0.5 * kd);
  const double duration = 12.0 / slowest + 20.0 * (period + delay);
  const auto steps = static_cast<std::size_t>(
      std::clamp(duration / period, 30.0, static_cast<double>(most_steps)));
  const double frequency = std::sqrt(kp);
  double error = 1.0, rate = 0.0, early = 0.0, late = 0.0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::rotate(queue.begin(), queue.end() - 1, queue.end());
    queue[0] = -(kp * error + kd * rate);
    const double parts[2][2] = {
        {first, queue[queue.size() - 1]}, {period - first, queue[queue.size() - 2]}};
    for (const auto& [time, acceleration] : parts) {
      error += rate * time + 0.5 * acceleration * time * time;
      rate += acceleration * time;
    }
    const double size = std::fabs(error) + std::fabs(rate) / frequency;
    if (!(size < 1e6)) return false;
    if (step < steps / 3) early = std::max(early, size);
    if (step >= 2 * (steps / 3)) late = std::max(late, size);
  }
  return late < least_decay * early;
}

}  // namespace

bool is_stable(double kp, double kd, double period, double delay) {
  for (double loop_gain : {0.7, 1.0, 1.3, 1.95})
    if (!decays(loop_gain * kp, loop_gain * kd, period, delay)) return false;
  return true;
}

}  // namespace ros2_rnea_controller
