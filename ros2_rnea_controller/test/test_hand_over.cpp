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

constexpr double period = 0.001;

/// A hand-over of one joint with a limit of 50 Nm, so that its rate is 1000 Nm/s.
struct OneJoint {
  explicit OneJoint(double sent) : hand_over({50.0}) { hand_over.sent()[0] = sent; }
  double after(double needed, double time) {
    for (int i = 0; i < std::lround(time / period); ++i) hand_over.update(&needed, period);
    return hand_over.sent()[0];
  }
  HandOver hand_over;
};

TEST(HandOver, LeadsFromWhatWasSentToWhatIsNeeded) {
  OneJoint joint(10.0);
  double needed = 4.0, before = 10.0;
  joint.hand_over.begin(&needed, 0.5);
  for (int i = 0; i < 500; ++i) {
    const double now = joint.after(needed, period);
    EXPECT_LE(now, before);
    EXPECT_LT(before - now, 0.1);
    before = now;
  }
  EXPECT_NEAR(before, 4.0, 1e-9);
}

TEST(HandOver, FollowsWhatIsNeededMeanwhile) {
  OneJoint joint(10.0);
  const double needed = 4.0;
  joint.hand_over.begin(&needed, 0.5);
  const double before = joint.after(4.0, 0.1), stepped = joint.after(5.0, period);
  EXPECT_NEAR(stepped - before, 1.0, 0.05);
}

TEST(HandOver, LimitsTheRate) {
  OneJoint joint(0.0);
  EXPECT_NEAR(joint.after(40.0, 0.01), 10.0, 1e-9);
  EXPECT_NEAR(joint.after(-40.0, 0.01), 0.0, 1e-9);
  EXPECT_NEAR(joint.after(40.0, 0.05), 40.0, 1e-9);
}

TEST(HandOver, LimitsTheRateByTheSizeOfTheJoint) {
  for (const auto& [limit, rate] : {std::pair{5.0, 100.0}, {50.0, 1000.0}, {100.0, 1000.0},
                                    {300.0, 2000.0}}) {
    HandOver hand_over({limit});
    const double needed = 1e9;
    hand_over.update(&needed, period);
    EXPECT_NEAR(hand_over.sent()[0], rate * period, 1e-9) << limit;
  }
}

TEST(HandOver, WithoutDurationIsLimitedInRateAlone) {
  OneJoint joint(10.0);
  const double needed = 4.0;
  joint.hand_over.begin(&needed, 0.0);
  EXPECT_NEAR(joint.after(4.0, 0.006), 4.0, 1e-9);
}

TEST(HandOver, RisesAtTheRateLimitFromWhatHoldsNothing) {
  OneJoint joint(0.0);
  const double needed = 20.0;
  joint.hand_over.start(0, 0.0, false);
  joint.hand_over.begin(&needed, 0.5);
  EXPECT_EQ(joint.hand_over.sent()[0], 0.0);
  EXPECT_NEAR(joint.after(20.0, 0.01), 10.0, 1e-9);
  joint.hand_over.begin(&needed, 0.5);
  EXPECT_NEAR(joint.after(20.0, 0.01), 20.0, 1e-9);
  joint.after(20.0, 0.01);
  joint.hand_over.begin(&needed, 0.5);  // from now on, it holds the joint
  joint.hand_over.sent()[0] = 10.0;
  joint.hand_over.begin(&needed, 0.5);
  EXPECT_LT(joint.after(20.0, 0.02), 12.0);
}

TEST(HandOver, ThatBeginsInEachCycleEnds) {
  // Parameters that stream in, or states that are unusable now and then, begin one in each cycle.
  OneJoint joint(10.0);
  const double needed = 4.0;
  for (int i = 0; i < 1000; ++i) {
    joint.hand_over.begin_within(&needed, 0.5);
    joint.after(4.0, period);
  }
  EXPECT_NEAR(joint.hand_over.sent()[0], 4.0, 0.1);
}

TEST(HandOver, ThatBeginsWithinAnotherIsNoLonger) {
  OneJoint joint(10.0);
  const double needed = 0.0;
  joint.hand_over.begin(&needed, 0.05);
  joint.after(0.0, 0.01);
  joint.hand_over.begin_within(&needed, 0.5);
  EXPECT_NEAR(joint.after(0.0, 0.05), 0.0, 1e-9);
  joint.hand_over.sent()[0] = 10.0;
  joint.hand_over.begin_within(&needed, 0.5);  // no other lasts
  EXPECT_GT(joint.after(0.0, 0.05), 5.0);
}

}  // namespace
}  // namespace ros2_rnea_controller
