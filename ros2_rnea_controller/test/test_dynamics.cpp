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

#include "support.hpp"

namespace ros2_rnea_controller {
namespace {

/// Returns what is wrong with a model for computing efforts.
std::string refusal(const std::vector<uint8_t>& bytes) {
  const auto model = std::make_shared<const Model>(bytes);
  return error_of([&] { Dynamics{model}; });
}

rnea_tape& tape_of(const rnea_model& model, const char* quantity) {
  return *const_cast<rnea_tape*>(rnea_find(&model, quantity));
}

TEST(Dynamics, RefusesTapesThatReadMoreThanTheStates) {
  EXPECT_TRUE(has(error_of([] { Dynamics{model_of("arm_wrenches")}; }), "without --wrenches"));
}

TEST(Dynamics, RefusesTapesThatWriteMoreThanOneNumberForEachVelocity) {
  // A file that names another quantity so would make it write beyond its arrays.
  const auto renamed = changed("arm", [](const rnea_model& model) {
    std::swap(tape_of(model, "gravity").name, tape_of(model, "joint_momentum").name);
  });
  EXPECT_TRUE(has(refusal(renamed), "one number for each velocity"));
}

TEST(Dynamics, RefusesGravityThatIsNoVector) {
  const auto scalar = changed("arm", [](const rnea_model& model) {
    const_cast<rnea_parameter&>(model.parameters[0]).count = 1;
  });
  EXPECT_TRUE(has(refusal(scalar), "no vector"));
}

TEST(Dynamics, NeedsFriction) {
  EXPECT_TRUE(has(error_of([] { Dynamics{model_of("arm_no_friction")}; }), "'friction'"));
}

TEST(Dynamics, ReportsEffortsThatAreNotFinite) {
  Dynamics dynamics(model_of("arm"));
  const double q[2] = {0.1, 0.2}, rest[2] = {0.0, 0.0};
  const double fast[2] = {1e200, 0.0}, large[2] = {1e308, 1e308};
  double out[2];
  EXPECT_TRUE(dynamics.effort({q, rest, rest, rest}, out));
  EXPECT_FALSE(dynamics.effort({q, fast, rest, fast}, out));
  EXPECT_FALSE(dynamics.inertia(q, large, out));
  const double unknown[2] = {0.1, nan_value};
  EXPECT_FALSE(dynamics.holding_effort(unknown, out));
}

TEST(Dynamics, LeavesOutWhatTheHardwareAddsAndKnowsIt) {
  Dynamics whole(model_of("arm")), franka(model_of("arm_franka"));
  whole.set_parameters(franka.parameters().data());  // the same tilt
  const double q[2] = {0.1, 0.2}, qd[2] = {0.5, -0.3}, qdd[2] = {1.0, 2.0};
  double all[2], sent[2], added[2];
  ASSERT_TRUE(whole.effort({q, qd, qdd, qd}, all));
  ASSERT_TRUE(franka.effort({q, qd, qdd, qd}, sent));
  ASSERT_TRUE(franka.added_by_hardware(q, qd, added));
  EXPECT_TRUE(franka.hardware_adds());
  EXPECT_FALSE(whole.hardware_adds());
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(sent[i] + added[i], all[i], 1e-12);
    EXPECT_GT(std::fabs(added[i]), 0.5);
  }
  ASSERT_TRUE(whole.added_by_hardware(q, qd, added));
  EXPECT_EQ(added[0], 0.0);
}

}  // namespace
}  // namespace ros2_rnea_controller
