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
#include <complex>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace ros2_rnea_controller {

namespace {

using Complex = std::complex<double>;

constexpr double most_periods = 20.0;  // of delay; more are judged with a longer period
constexpr double least_damping_ratio = 0.1;
constexpr double slowest_mode = 1e-6;  // one that is nearer to 1 takes a million periods
constexpr int most_iterations = 2000;
constexpr double precision = 1e-13;

/// Returns the roots of z^n + ..., the highest power first, by Weierstrass; empty: none are found.
std::vector<Complex> roots(const std::vector<double>& polynomial) {
  const std::size_t degree = polynomial.size() - 1;
  std::vector<Complex> roots(degree);
  for (std::size_t i = 0; i < degree; ++i)
    roots[i] = std::polar(
        0.9, 0.4 + 6.283185307179586 * static_cast<double>(i) / static_cast<double>(degree));
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    double largest = 0.0;
    for (std::size_t i = 0; i < degree; ++i) {
      Complex value = 0.0, others = 1.0;
      for (double coefficient : polynomial) value = value * roots[i] + coefficient;
      for (std::size_t j = 0; j < degree; ++j)
        if (j != i) others *= roots[i] - roots[j];
      const Complex step = value / others;
      roots[i] -= step;
      largest = std::max(largest, std::abs(step));
      if (!std::isfinite(std::abs(step))) return {};
    }
    if (largest < precision) break;
  }
  return roots;
}

/// Returns the polynomial whose roots are the modes of e'' = -u, where u = kp e + kd e' is held
/// for a period and acts after the delay: of m + 1 periods ago for `late`, then of m periods ago.
std::vector<double> modes_of(double kp, double kd, double period, double delay) {
  period = std::max(period, delay / most_periods);
  const double whole = std::floor(delay / period);
  const double late = delay - whole * period, early = period - late;
  const double first = 0.5 * early * early, second = 0.5 * period * period - first;
  std::vector<double> polynomial(static_cast<std::size_t>(whole) + 4);
  polynomial[0] = 1.0;
  polynomial[1] = -2.0;
  polynomial[2] = 1.0;
  double* last = &polynomial[polynomial.size() - 3];
  last[0] += kp * first + kd * early;
  last[1] += kp * (period * early + second - first) + kd * (late - early);
  last[2] += kp * (period * late - second) - kd * late;
  return polynomial;
}

bool passes(double kp, double kd, double period, double delay) {
  const std::vector<Complex> modes = roots(modes_of(kp, kd, period, delay));
  if (modes.empty()) return false;
  const Complex slowest = *std::max_element(
      modes.begin(), modes.end(),
      [](const Complex& one, const Complex& other) { return std::abs(one) < std::abs(other); });
  if (std::abs(slowest - 1.0) <= slowest_mode) return true;
  const Complex exponent = std::log(slowest);
  return exponent.real() < 0.0 && -exponent.real() >= least_damping_ratio * std::abs(exponent);
}

}  // namespace

bool is_stable(double kp, double kd, double period, double delay) {
  for (double loop_gain : {0.7, 1.0, 1.3, 1.95})
    if (!passes(loop_gain * kp, loop_gain * kd, period, delay)) return false;
  return true;
}

}  // namespace ros2_rnea_controller
