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

/// An observer of the arm at rest, while the environment pushes one of its joints.
struct Resting {
  explicit Resting(double gain = 50.0)
      : dynamics(model_of("arm")), observer(gain, {0, 1}, {100.0, 40.0}, 2) {
    dynamics.holding_effort(q, motors);
  }
  void push(double effort, int cycles) {
    const double reduced[2] = {motors[0], motors[1] - effort};
    for (int i = 0; i < cycles; ++i) observer.update(dynamics, q, rest, reduced, 0.001);
  }
  double q[2] = {0.3, -0.5}, rest[2] = {0.0, 0.0}, motors[2];
  Dynamics dynamics;
  MomentumObserver observer;
};

TEST(MomentumObserver, FindsAPushAndNothingElse) {
  Resting arm;
  arm.push(0.0, 200);
  EXPECT_NEAR(arm.observer.estimate()[1], 0.0, 1e-9);
  arm.push(3.0, 21);
  EXPECT_NEAR(arm.observer.estimate()[1], 3.0 * (1.0 - std::exp(-1.0)), 0.1);
  arm.push(3.0, 400);
  EXPECT_NEAR(arm.observer.estimate()[1], 3.0, 1e-6);
  EXPECT_NEAR(arm.observer.estimate()[0], 0.0, 1e-9);
}

TEST(MomentumObserver, BoundsEachSample) {
  Resting arm;
  arm.push(1e9, 500);
  EXPECT_NEAR(arm.observer.estimate()[1], 40.0, 1e-6);
}

TEST(MomentumObserver, TakesASampleThatIsNoNumberAsNone) {
  Resting arm;
  arm.push(3.0, 400);
  arm.push(nan_value, 400);
  EXPECT_NEAR(arm.observer.estimate()[1], 0.0, 1e-3);
  arm.push(3.0, 400);
  EXPECT_NEAR(arm.observer.estimate()[1], 3.0, 1e-3);
}

TEST(MomentumObserver, BeginsAnew) {
  Resting arm;
  arm.push(3.0, 400);
  arm.observer.restart();
  EXPECT_EQ(arm.observer.estimate()[1], 0.0);
  arm.push(3.0, 400);
  arm.observer.update(arm.dynamics, arm.q, arm.rest, arm.motors, 0.0);
  EXPECT_EQ(arm.observer.estimate()[1], 0.0);
}

TEST(MomentumObserver, DoesNotTakeAnotherModelForAPush) {
  Resting arm;
  const double moving[2] = {1.0, 0.0};
  arm.observer.update(arm.dynamics, arm.q, moving, arm.motors, 0.001);
  std::vector<double> heavy = arm.dynamics.parameters();
  heavy[heavy.size() - 10] = 5.0;  // the mass of the payload
  heavy[heavy.size() - 9] = 5.0 * 0.3;
  heavy[heavy.size() - 3] = 5.0 * 0.09;
  arm.dynamics.set_parameters(heavy.data());
  arm.observer.forget_momentum();
  const std::vector<double> before = arm.observer.estimate();
  arm.observer.update(arm.dynamics, arm.q, moving, arm.motors, 0.001);
  EXPECT_EQ(arm.observer.estimate(), before);
}

}  // namespace
}  // namespace ros2_rnea_controller
