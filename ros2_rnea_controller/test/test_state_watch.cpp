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

/// Returns how many cycles of 1 ms a state is usable that is repeated to the bit; at most 1000.
int usable_cycles(double velocity) {
  StateWatch watch(1);
  const double q = 0.5;
  int cycles = 0;
  while (cycles < 1000 && watch.update(&q, &velocity, 0.001)) ++cycles;
  return cycles;
}

TEST(StateWatch, AcceptsStatesThatChange) {
  StateWatch watch(2);
  for (int i = 0; i < 1000; ++i) {
    const double q[2] = {0.001 * i, 1.0}, qd[2] = {1.0, 0.0};
    EXPECT_TRUE(watch.update(q, qd, 0.001));
  }
}

TEST(StateWatch, RefusesWhatIsNoNumber) {
  StateWatch watch(2);
  for (double bad : {nan_value, infinite, -infinite}) {
    const double good[2] = {0.1, 0.2}, wrong[2] = {0.1, bad};
    EXPECT_TRUE(watch.update(good, good, 0.001));
    EXPECT_FALSE(watch.update(wrong, good, 0.001));
    EXPECT_FALSE(watch.update(good, wrong, 0.001));
    EXPECT_TRUE(watch.update(good, good, 0.001));
  }
}

TEST(StateWatch, RefusesAVelocityWithoutAMotion) {
  EXPECT_EQ(usable_cycles(0.0), 1000);   // at rest
  EXPECT_EQ(usable_cycles(0.04), 1000);  // an error at rest
  EXPECT_NEAR(usable_cycles(0.1), 100, 2);
  EXPECT_NEAR(usable_cycles(-0.1), 100, 2);
}

TEST(StateWatch, AcceptsHardwareThatIsReadAtFiftyHertz) {
  for (double velocity : {0.1, 1.0, 10.0}) EXPECT_GE(usable_cycles(velocity), 20) << velocity;
  EXPECT_LE(usable_cycles(10.0), 22);
}

TEST(StateWatch, AcceptsAgainWhatHasChanged) {
  StateWatch watch(1);
  double q = 0.5;
  const double qd = 2.0;
  while (watch.update(&q, &qd, 0.001)) continue;
  EXPECT_FALSE(watch.update(&q, &qd, 0.0));
  q += 1e-9;
  EXPECT_TRUE(watch.update(&q, &qd, 0.001));
}

}  // namespace
}  // namespace ros2_rnea_controller
