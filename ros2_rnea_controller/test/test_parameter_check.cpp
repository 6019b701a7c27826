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

#include <gtest/gtest.h>

#include "parameter_check.hpp"
#include "support.hpp"

namespace ros2_rnea_controller {
namespace {

/// Parameters of the arm, and the judgement of others.
struct Checked {
  explicit Checked(double factor = 1.0) : model(model_of("arm")), check(model, settings(factor)) {
    values.assign(model->parameters(), model->parameters() + model->parameter_count());
    before = values;
  }
  static Settings settings(double factor) {
    Settings settings = settings_of(Mode::computed_torque);
    settings.effort_limit_factor = factor;
    return settings;
  }
  /// The place of a parameter of the last body, and further numbers of it.
  double& last(const std::string& name, std::size_t further = 0) {
    const rnea_parameter& parameter = *model->parameter(name);
    return values[parameter.first + parameter.count - std::max(parameter.width, 1u) + further];
  }
  /// Puts a point mass at the tool.
  void load(double mass) {
    last("payload") = mass;
    last("payload", 1) = 0.3 * mass;
    last("payload", 7) = last("payload", 9) = 0.09 * mass;
  }
  std::string reason() { return check.reason_to_refuse(values, before, q); }

  std::shared_ptr<const Model> model;
  ParameterCheck check;
  std::vector<double> values, before;
  double q[2] = {0.0, 0.0};
};

TEST(ParameterCheck, AcceptsWhatTheArmCanHold) {
  Checked arm;
  EXPECT_EQ(arm.reason(), "");
  arm.load(2.0);
  arm.last("damping") = 3.0;
  EXPECT_EQ(arm.reason(), "");
}

TEST(ParameterCheck, RefusesANumberThatIsNotFiniteOrOutOfBounds) {
  for (double bad : {nan_value, infinite, -1.0}) {
    Checked arm;
    arm.last("damping") = bad;
    EXPECT_TRUE(has(arm.reason(), "damping of joint 'elbow'")) << arm.reason();
  }
  for (double bad : {nan_value, infinite, -1.0}) {
    Checked arm;
    arm.last("payload") = bad;
    EXPECT_TRUE(has(arm.reason(), "payload of joint 'elbow'")) << arm.reason();
  }
  Checked arm;
  arm.values[2] = nan_value;
  EXPECT_TRUE(has(arm.reason(), "gravity is nan")) << arm.reason();
}

TEST(ParameterCheck, RefusesAnotherNumberOfThem) {
  Checked arm;
  arm.values.pop_back();
  EXPECT_TRUE(has(arm.reason(), "parameters; the model has"));
  arm.values.clear();
  EXPECT_TRUE(has(arm.reason(), "there are 0 parameters"));
}

TEST(ParameterCheck, RefusesWhatTheArmCannotHold) {
  Checked arm;
  arm.load(20.0);
  EXPECT_TRUE(has(arm.reason(), "joint 'shoulder' would need")) << arm.reason();
}

TEST(ParameterCheck, AcceptsWhatIsNoWorseThanBefore) {
  Checked arm(0.05);  // the arm cannot even hold itself
  EXPECT_EQ(arm.reason(), "");
  arm.load(0.5);
  EXPECT_TRUE(has(arm.reason(), "would need")) << arm.reason();
}

TEST(ParameterCheck, RefusesWhatCannotBeComputed) {
  Checked arm;
  arm.q[0] = nan_value;  // neither before nor with them
  EXPECT_TRUE(has(arm.reason(), "inf times its effort limit"));
  Checked huge;
  huge.load(1e308);
  EXPECT_TRUE(has(huge.reason(), "inf times its effort limit"));
}

TEST(ParameterCheck, LooksAtBoundsWherePositionsAreNotKnown) {
  Checked arm;
  arm.load(0.5);
  EXPECT_EQ(arm.check.reason_to_refuse(arm.values, arm.before, nullptr), "");
  arm.last("payload") = -1.0;
  EXPECT_TRUE(has(arm.check.reason_to_refuse(arm.values, arm.before, nullptr), "payload of joint"));
}

TEST(ParameterCheck, RefusesAMassMatrixThatWouldDriveTheArm) {
  Checked arm;
  arm.last("payload", 7) = -10.0;  // Iyy
  EXPECT_TRUE(has(arm.reason(), "positive definite")) << arm.reason();
}

TEST(ParameterCheck, DoesNotDivideByAWidthOfNothing) {
  const auto odd = changed("arm", [](const rnea_model& model) {
    for (uint32_t i = 0; i < model.header->parameters.count; ++i)
      const_cast<rnea_parameter&>(model.parameters[i]).width = 0;
  });
  const auto model = std::make_shared<const Model>(odd);
  ParameterCheck check(model, settings_of(Mode::computed_torque));
  const double* exported = model->parameters();
  const std::vector<double> values(exported, exported + model->parameter_count());
  const double q[2] = {0.0, 0.0};
  EXPECT_EQ(check.reason_to_refuse(values, values, q), "");
}

}  // namespace
}  // namespace ros2_rnea_controller
