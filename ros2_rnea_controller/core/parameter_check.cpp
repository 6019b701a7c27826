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

#include "parameter_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace ros2_rnea_controller {

namespace {

constexpr double rounding = 1e-6;

}  // namespace

ParameterCheck::ParameterCheck(std::shared_ptr<const Model> model, const Settings& settings)
    : model_(std::move(model)), settings_(checked(settings, *model_)), dynamics_(model_) {}

std::string ParameterCheck::reason_to_refuse(
    const std::vector<double>& values, const std::vector<double>& before, const double* q) {
  std::ostringstream reason;
  if (values.size() != model_->parameter_count()) {
    reason << "there are " << values.size() << " parameters; the model has "
           << model_->parameter_count();
    return reason.str();
  }
  std::string error = out_of_bounds(values);
  if (!error.empty() || !q) return error;
  const std::vector<double> present = shares(before, q);
  const bool was_positive = is_mass_positive(q);
  const std::vector<double> wanted = shares(values, q);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] <= 1.0 ||
        (std::isfinite(wanted[i]) && wanted[i] <= present[i] * (1.0 + rounding)))
      continue;
    reason << "joint '" << settings_.joints[i] << "' would need " << wanted[i]
           << " times its effort limit to hold the present position";
    return reason.str();
  }
  if (was_positive && !is_mass_positive(q))
    return "the mass matrix at the present position would not be positive definite";
  return {};
}

std::string ParameterCheck::out_of_bounds(const std::vector<double>& values) const {
  const rnea_model& model = model_->tapes();
  for (uint32_t k = 0; k < model.header->parameters.count; ++k) {
    const rnea_parameter& parameter = model.parameters[k];
    const bool is_payload = model_->text(parameter.name) == "payload" && parameter.width > 0;
    for (uint32_t i = 0; i < parameter.count; ++i) {
      const double value = values[parameter.first + i];
      const bool is_mass = is_payload && i % parameter.width == 0;
      const double lower = is_mass ? 0.0 : parameter.lower;
      if (std::isfinite(value) && value >= lower && value <= parameter.upper) continue;
      std::ostringstream reason;
      reason << model_->text(parameter.name);
      if (parameter.width)
        reason << " of joint '"
               << model_->text(model.bodies[i / parameter.width].joint) << "'";
      reason << " is " << value << "; it has to be a finite number from " << lower << " to "
             << parameter.upper;
      return reason.str();
    }
  }
  return {};
}

std::vector<double> ParameterCheck::shares(const std::vector<double>& values, const double* q) {
  std::vector<double> efforts(model_->nv()), shares;
  dynamics_.set_parameters(values.data());
  const bool is_finite = dynamics_.holding_effort(q, efforts.data());
  for (std::size_t i = 0; i < settings_.joints.size(); ++i)
    shares.push_back(
        is_finite ? std::fabs(efforts[model_->joint(settings_.joints[i]).v]) /
                        (settings_.effort_limit_factor * settings_.effort_limits[i])
                  : std::numeric_limits<double>::infinity());
  return shares;
}

/// Decomposes the mass matrix of the commanded joints, as Cholesky did.
bool ParameterCheck::is_mass_positive(const double* q) {
  const std::size_t count = settings_.joints.size(), nv = model_->nv();
  std::vector<double> unit(nv), column(nv);
  std::vector<std::vector<double>> L(count, std::vector<double>(count));
  for (std::size_t i = 0; i < count; ++i) {
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[model_->joint(settings_.joints[i]).v] = 1.0;
    if (!dynamics_.inertia(q, unit.data(), column.data())) return false;
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = column[model_->joint(settings_.joints[j]).v];
      for (std::size_t k = 0; k < j; ++k) rest -= L[i][k] * L[j][k];
      if (i == j && !(rest > 0.0)) return false;
      L[i][j] = i == j ? std::sqrt(rest) : rest / L[j][j];
    }
  }
  return true;
}

}  // namespace ros2_rnea_controller
