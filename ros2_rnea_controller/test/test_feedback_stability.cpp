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

#include "feedback_stability.hpp"

namespace ros2_rnea_controller {
namespace {

TEST(FeedbackStability, PassesTheRecommendedGains) {
  EXPECT_TRUE(is_stable(100.0, 20.0, 0.001, 0.002));
  EXPECT_TRUE(is_stable(100.0, 20.0, 0.004, 0.002));
  EXPECT_TRUE(is_stable(400.0, 40.0, 0.001, 0.0));
}

TEST(FeedbackStability, RefusesWhatOscillates) {
  EXPECT_FALSE(is_stable(100.0, 20.0, 0.001, 0.1));   // dead time
  EXPECT_FALSE(is_stable(1.0, 1100.0, 0.001, 0.0));   // kd T > 1.03
  EXPECT_FALSE(is_stable(1e4, 1.0, 0.001, 0.002));    // damped too little
  EXPECT_FALSE(is_stable(1e300, 1e300, 0.001, 0.0));  // overflow
}

TEST(FeedbackStability, TakesTheRestOfADelayIntoAccount) {
  double largest[2];
  for (int i = 0; i < 2; ++i)
    for (double kd = 1.0; is_stable(1.0, kd, 0.004, i ? 0.0079 : 0.004); kd *= 1.02)
      largest[i] = kd;
  EXPECT_LT(largest[1], 0.8 * largest[0]);
}

TEST(FeedbackStability, IsJudgedInATimeThatDoesNotGrowWithTheDelay) {
  EXPECT_FALSE(is_stable(100.0, 20.0, 1e-5, 1.0));  // 100000 periods
  EXPECT_TRUE(is_stable(0.04, 0.4, 1e-4, 0.1));
  EXPECT_TRUE(is_stable(0.01, 100.0, 0.001, 0.002));  // a mode of hours
}

}  // namespace
}  // namespace ros2_rnea_controller
