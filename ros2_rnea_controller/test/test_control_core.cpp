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

#include <algorithm>
#include <sstream>

#include "support.hpp"

namespace ros2_rnea_controller {
namespace {

constexpr double rate = 1000.0;  // of both joints' efforts at most [Nm/s]; the elbow has 800

double largest_difference(const std::vector<double>& one, const std::vector<double>& other) {
  double largest = 0.0;
  for (std::size_t i = 0; i < one.size(); ++i)
    largest = std::max(largest, std::fabs(one[i] - other[i]));
  return largest;
}

// ---- Start -------------------------------------------------------------------------------------

TEST(Start, BeginsWithWhatTheHardwareHolds) {
  Arm arm(Mode::gravity_compensation);
  const std::vector<double> held{1.2 * arm.gravity()[0], 0.8 * arm.gravity()[1]};
  ASSERT_TRUE(arm.core.start(held.data()));
  arm.run();
  EXPECT_LT(largest_difference(arm.effort(), held), 0.05);
  EXPECT_GT(largest_difference(arm.effort(), arm.gravity()), 0.5);
  arm.run(600);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

TEST(Start, TakesTheMeasuredEffortWhereNothingIsHeld) {
  Arm arm(Mode::gravity_compensation);
  arm.core.measured().effort = {1.2 * arm.gravity()[0], nan_value};
  ASSERT_TRUE(arm.core.start(arm.held.data()));
  arm.run();
  EXPECT_NEAR(arm.effort()[0], 1.2 * arm.gravity()[0], 0.05);
}

TEST(Start, BeginsWithGravityWhereSomethingElseHoldsTheArm) {
  Arm arm(Mode::computed_torque);
  const double held[2] = {0.0, 0.0};  // while brakes hold it
  arm.core.measured().effort = {0.0, 0.0};
  ASSERT_TRUE(arm.core.start(held));
  arm.run();
  EXPECT_LE(largest_difference(arm.effort(), {0.0, 0.0}), rate * 0.001 * 1.000001);
  arm.run(49);  // not blended: the arm would fall
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

TEST(Start, InMotionBeginsWithWhatTheHardwareHolds) {
  Arm arm(Mode::computed_torque);
  const double held[2] = {0.0, 0.0};
  arm.core.measured().qd = {0.5, 0.0};
  ASSERT_TRUE(arm.core.start(held));
  EXPECT_EQ(arm.effort(), (std::vector<double>{0.0, 0.0}));
}

TEST(Start, IsRefusedWhereAJointCannotBeHeld) {
  for (Mode mode : {Mode::gravity_compensation, Mode::feedforward}) {
    Settings settings = settings_of(mode);
    EXPECT_EQ(Arm(settings).core.reason_not_to_start(), "");
    const double needed = std::fabs(Arm(settings).gravity()[0]);
    settings.effort_limits = {1.001 * needed, 100.0};
    EXPECT_EQ(Arm(settings).core.reason_not_to_start(), "");
    settings.effort_limits = {2.0 * needed, 100.0};
    settings.effort_limit_factor = 0.4;
    const std::string reason = Arm(settings).core.reason_not_to_start();
    std::ostringstream words;
    words << "its limit is " << 0.8 * needed << " Nm";
    EXPECT_TRUE(has(reason, "joint 'shoulder' needs ")) << reason;
    EXPECT_TRUE(has(reason, words.str())) << reason;
  }
}

TEST(Start, IsRefusedWhereTheModelGivesNoEffort) {
  Arm arm(Mode::gravity_compensation);
  std::vector<double> values = arm.core.dynamics().parameters();
  values[2] = nan_value;  // of gravity
  arm.core.set_parameters(values.data());
  EXPECT_TRUE(has(arm.core.reason_not_to_start(), "the model gives no finite effort"));
  arm.core.measured().q[0] = nan_value;  // which start() refuses, with other words
  EXPECT_EQ(arm.core.reason_not_to_start(), "");
  EXPECT_FALSE(arm.core.start(arm.held.data()));
}

TEST(Start, ReachesGravitySoonWhereNothingIsKnown) {
  for (Mode mode : {Mode::gravity_compensation, Mode::computed_torque})
    for (int wait : {0, 10}) {  // cycles until another controller writes references
      Arm arm(mode);
      arm.follow(nan_value, 0.0);
      arm.run(wait);
      arm.follow(0.3, -0.5);
      arm.run(50);  // with the hand-over of half a second, the arm would fall meanwhile
      EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
    }
}

TEST(Start, DoesNotTakeAMeasuredEffortThatHasWhatTheHardwareAdds) {
  Arm arm(Mode::gravity_compensation, "arm_franka");
  arm.core.measured().effort = {15.0, 3.0};  // gravity, which the arm compensates by itself
  ASSERT_TRUE(arm.core.start(arm.held.data()));
  arm.run();
  EXPECT_LT(largest_difference(arm.effort(), {0.0, 0.0}), 0.2);
}

TEST(Start, DoesNotTakeTheMeasuredEffortOfAPositionLoop) {
  Arm arm(Mode::feedforward);
  arm.core.measured().effort = {15.0, 3.0};
  ASSERT_TRUE(arm.core.start(arm.held.data()));
  arm.run();
  EXPECT_LT(largest_difference(arm.effort(), {0.0, 0.0}), 0.2);
  EXPECT_EQ(arm.core.command().position, (std::vector<double>{0.3, -0.5}));
}

TEST(Start, TakesNoMoreThanTheLimitsFromTheHardware) {
  Arm arm(Mode::gravity_compensation);
  const double held[2] = {1e9, infinite};
  ASSERT_TRUE(arm.core.start(held));
  arm.run(700);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

TEST(Start, IsRefusedWithoutStatesAndPossibleLater) {
  Arm arm(Mode::computed_torque);
  arm.core.measured().qd[1] = nan_value;
  arm.run();
  EXPECT_FALSE(arm.core.start(arm.held.data()));
  arm.core.measured().qd[1] = 0.0;
  EXPECT_TRUE(arm.core.start(arm.held.data()));
  arm.core.measured().q[0] = infinite;
  EXPECT_FALSE(arm.core.start(arm.held.data()));
}

TEST(Start, IsRefusedWhileADriverRepeatsAVelocity) {
  Arm arm(Mode::computed_torque);
  arm.core.measured().qd = {0.5, 0.0};
  EXPECT_FALSE(arm.run(200));
  EXPECT_FALSE(arm.core.start(arm.held.data()));
  arm.core.measured().qd = {0.0, 0.0};
  EXPECT_TRUE(arm.core.start(arm.held.data()));
}

TEST(Start, EndsWhatWas) {
  Arm arm(Mode::computed_torque);
  arm.run(20);
  arm.follow(3.0, 0.0);
  arm.run();
  ASSERT_EQ(arm.core.state(), State::fault);
  arm.follow(0.3, -0.5);
  for (int i = 0; i < 3; ++i) {
    arm.core.measured().qd[0] = 3.1 + 0.01 * i;
    arm.run();
  }
  ASSERT_TRUE(arm.core.start(arm.held.data()));
  EXPECT_EQ(arm.core.state(), State::gravity);
  EXPECT_EQ(arm.core.reason(), Reason::none);
  arm.run();  // the second state that is too fast
  EXPECT_EQ(arm.core.state(), State::tracking);
}

// ---- References --------------------------------------------------------------------------------

TEST(Reference, IsFollowedWhereItIsNear) {
  Arm arm(Mode::computed_torque);
  arm.run();
  EXPECT_EQ(arm.core.state(), State::tracking);
  EXPECT_EQ(arm.core.reason(), Reason::none);
}

TEST(Reference, ThatIsFarIsNotFollowedUntilItIsNear) {
  Arm arm(Mode::computed_torque);
  arm.follow(0.45, -0.5);
  arm.run();
  EXPECT_EQ(arm.core.state(), State::gravity);
  EXPECT_EQ(arm.core.reason(), Reason::far_reference);
  arm.follow(0.39, -0.5);
  arm.run();
  EXPECT_EQ(arm.core.state(), State::tracking);
}

TEST(Reference, ThatIsNoNumberLeadsToGravity) {
  for (auto member : {&Reference::position, &Reference::velocity, &Reference::acceleration}) {
    Arm arm(Mode::computed_torque);
    arm.run(20);
    (arm.core.reference().*member)[1] = nan_value;
    arm.run();
    EXPECT_EQ(arm.core.state(), State::gravity);
    EXPECT_EQ(arm.core.reason(), Reason::no_reference);
    arm.run(100);
    EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
  }
}

TEST(Reference, ThatNoEffortCanBeComputedOfLeadsToGravity) {
  // The states are good: a controller that is deactivated for it would let the arm fall.
  Arm arm(Mode::computed_torque);
  arm.run(20);
  arm.core.reference().velocity[0] = 1e308;
  EXPECT_TRUE(arm.run(1000));
  EXPECT_EQ(arm.core.state(), State::gravity);
  EXPECT_EQ(arm.core.reason(), Reason::no_reference);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

TEST(Reference, OfAnAbsurdAccelerationLeavesNothingBehind) {
  Arm arm(Mode::computed_torque);
  arm.core.reference().acceleration = {1e9, -1e9};  // as tracking begins, and for one cycle
  arm.run();
  arm.follow(0.3, -0.5);
  arm.run();
  for (int i = 0; i < 700; ++i) {
    arm.run();
    for (double each : arm.effort()) ASSERT_TRUE(std::isfinite(each));
  }
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
  arm.core.reference().acceleration = {1e9, -1e9};  // for longer: the effort does not wind up
  arm.run(500);
  arm.follow(0.3, -0.5);
  arm.run(200);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

TEST(Reference, ThatIsLostIsFollowedAgainWhenTheFormerEffortHasGone) {
  Arm arm(Mode::computed_torque);
  arm.run(20);
  arm.follow(nan_value, 0.0);
  arm.run();
  arm.follow(0.3, -0.5);
  arm.run(49);
  EXPECT_EQ(arm.core.state(), State::gravity);
  EXPECT_EQ(arm.core.reason(), Reason::no_reference);
  arm.run(2);
  EXPECT_EQ(arm.core.state(), State::tracking);
}

TEST(Reference, IsPassedOnToTheHardware) {
  Arm arm(Mode::feedforward);
  arm.follow(0.31, -0.5);
  arm.core.reference().velocity = {0.4, 0.0};
  arm.run();
  EXPECT_EQ(arm.core.command().position, (std::vector<double>{0.31, -0.5}));
  EXPECT_EQ(arm.core.command().velocity, (std::vector<double>{0.4, 0.0}));
  arm.core.measured().q[0] = nan_value;
  arm.run();
  EXPECT_EQ(arm.core.command().velocity, (std::vector<double>{0.0, 0.0}));
  arm.core.measured().q[0] = 0.3;
  arm.run();
  EXPECT_EQ(arm.core.command().velocity, (std::vector<double>{0.4, 0.0}));
  arm.core.reference().velocity[0] = nan_value;
  arm.run();
  EXPECT_EQ(arm.core.command().position, (std::vector<double>{0.31, -0.5}));
  EXPECT_EQ(arm.core.command().velocity, (std::vector<double>{0.0, 0.0}));
}

TEST(Reference, OfAJointThatTurnsMayBeTurnsAway) {
  Settings settings;
  settings.mode = Mode::computed_torque;
  settings.joints = {"turntable", "lift"};
  settings.measured_joints = {"grip"};
  settings.effort_limits = {50.0, 500.0};
  settings.position_gains = {100.0};
  settings.velocity_gains = {20.0};
  ControlCore core(model_of("gantry"), settings);
  const double held[2] = {0.0, 0.0}, turn = 2.0 * std::acos(-1.0);
  core.measured().q = {3.1, 0.2, 0.01};
  ASSERT_TRUE(core.start(held));
  core.reference().velocity = core.reference().acceleration = {0.0, 0.0};
  core.reference().position = {-turn + 3.1 + 0.05, 0.2};
  core.update({}, 0.001);
  EXPECT_EQ(core.state(), State::tracking);
  core.reference().position = {0.05 + 3.1 + 1000.0 * turn, 0.2};
  core.update({}, 0.001);
  EXPECT_EQ(core.state(), State::tracking);
  core.reference().position = {3.1, 0.2 + turn};  // what slides does not come back
  core.update({}, 0.001);
  EXPECT_EQ(core.state(), State::fault);
}

// ---- Efforts as references ---------------------------------------------------------------------

TEST(EffortReference, IsAddedToTheModel) {
  Arm arm(Mode::effort);
  arm.core.reference().effort = {1.0, -2.0};
  arm.run(1000);
  EXPECT_EQ(arm.core.state(), State::tracking);
  const std::vector<double> gravity = arm.gravity();
  EXPECT_NEAR(arm.effort()[0], gravity[0] + 1.0, 1e-9);
  EXPECT_NEAR(arm.effort()[1], gravity[1] - 2.0, 1e-9);
}

TEST(EffortReference, ThatContainsGravityIsRefused) {
  Arm arm(Mode::effort);
  arm.core.reference().effort = arm.gravity();
  arm.run(1000);
  EXPECT_EQ(arm.core.state(), State::gravity);
  EXPECT_EQ(arm.core.reason(), Reason::doubled_gravity);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

TEST(EffortReference, ThatBeginsLargeIsRefused) {  // a PID that was not followed for a while
  Arm arm(Mode::effort);
  arm.core.reference().effort = {0.0, -0.25 * arm.core.settings().effort_limits[1]};
  arm.run(1000);
  EXPECT_EQ(arm.core.state(), State::gravity);
  EXPECT_EQ(arm.core.reason(), Reason::large_reference);
  arm.core.reference().effort = {0.0, -0.1};
  arm.run();
  EXPECT_EQ(arm.core.state(), State::tracking);
}

TEST(EffortReference, ThatRisesToGravityIsRefusedBeforeItActs) {
  Arm arm(Mode::effort);
  const std::vector<double> gravity = arm.gravity();
  double largest = 0.0;
  for (int i = 0; i <= 1000; ++i) {  // as the first efforts of the node
    const double share = std::min(1.0, 0.004 * i);
    arm.core.reference().effort = {share * gravity[0], share * gravity[1]};
    arm.run();
    largest = std::max(largest, arm.effort()[0] / gravity[0]);
  }
  EXPECT_EQ(arm.core.reason(), Reason::doubled_gravity);
  EXPECT_LT(largest, 1.4);
}

TEST(EffortReference, ThatIsLostLeavesGravityAndDamping) {
  Arm arm(Mode::effort);
  arm.core.reference().effort = {1.0, -2.0};
  arm.run(1000);
  arm.core.reference().effort[0] = nan_value;
  arm.run(60);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

// ---- States ------------------------------------------------------------------------------------

TEST(States, ThatAreNoNumbersAreSurvivedForTheirTimeout) {
  Arm arm(Mode::computed_torque);
  arm.run(1000);
  const std::vector<double> before = arm.effort();
  arm.core.measured().qd[0] = nan_value;
  EXPECT_TRUE(arm.run(99));
  EXPECT_EQ(arm.core.reason(), Reason::unusable_states);
  EXPECT_LT(largest_difference(arm.effort(), before), 1e-9);
  EXPECT_FALSE(arm.run(3));
  for (double each : arm.effort()) EXPECT_TRUE(std::isfinite(each));
  arm.core.measured().qd[0] = 0.0;
  EXPECT_TRUE(arm.run());
  EXPECT_EQ(arm.core.reason(), Reason::none);
}

TEST(States, ThatAreNoNumbersNowAndThenDoNotFreezeTheEffort) {
  Arm arm(Mode::gravity_compensation);
  arm.run(1000);
  for (int i = 0; i < 2000; ++i) {  // somebody guides the arm
    arm.core.measured().q = {i % 2 ? nan_value : 0.3 + 0.0004 * i, -0.5};
    arm.run();
  }
  arm.core.measured().q[0] = 0.3 + 0.0004 * 1998;
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 0.3);
}

TEST(States, OfAFaultDoNotHideItsReason) {
  Arm arm(Mode::computed_torque);
  arm.run(20);
  arm.follow(3.0, 0.0);
  arm.run();
  arm.core.measured().q[0] = nan_value;
  arm.run();
  EXPECT_EQ(arm.core.reason(), Reason::unusable_states);
  arm.core.measured().q[0] = 0.3;
  arm.run();
  EXPECT_EQ(arm.core.state(), State::fault);
  EXPECT_EQ(arm.core.reason(), Reason::deviation);
}

TEST(States, ThatAreNoNumbersAreNoRest) {
  Arm arm(Mode::gravity_compensation);
  arm.run();
  EXPECT_TRUE(arm.core.is_at_rest());
  arm.core.measured().qd[0] = nan_value;
  arm.run();
  EXPECT_FALSE(arm.core.is_at_rest());
  EXPECT_TRUE(std::isnan(arm.core.fastest()));
}

TEST(States, OfNoisyVelocitiesAreARest) {
  Arm arm(Mode::gravity_compensation);
  for (int i = 0; i < 200; ++i) {
    arm.core.measured().qd = {i % 2 ? 0.1 : -0.1, 0.0};
    arm.core.measured().q[0] += i % 2 ? 1e-5 : -1e-5;
    arm.run();
  }
  EXPECT_TRUE(arm.core.is_at_rest());
}

// ---- Faults ------------------------------------------------------------------------------------

TEST(Fault, FollowsALargeDeviationAndEndsByEnable) {
  Arm arm(Mode::computed_torque);
  arm.run(20);
  arm.follow(0.3 + 0.41, -0.5);
  arm.run();
  EXPECT_EQ(arm.core.state(), State::fault);
  EXPECT_EQ(arm.core.reason(), Reason::deviation);
  arm.follow(0.3, -0.5);
  arm.run(100);
  EXPECT_EQ(arm.core.state(), State::fault);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
  arm.request.is_enabled = false;
  arm.run();
  EXPECT_EQ(arm.core.state(), State::fault);
  arm.request = {true, 1};
  arm.run();
  EXPECT_EQ(arm.core.state(), State::tracking);
}

TEST(Fault, NeedsThreeStatesThatAreTooFast) {
  Arm arm(Mode::computed_torque);
  arm.run(20);
  for (int i = 0; i < 10; ++i) {  // one or two may be wrong
    arm.core.measured().qd[0] = i % 3 ? 3.1 : 0.0;
    arm.run();
  }
  EXPECT_EQ(arm.core.state(), State::tracking);
  for (int i = 0; i < 3; ++i) {
    arm.core.measured().qd[0] = 3.1 + 0.01 * i;
    arm.run();
  }
  EXPECT_EQ(arm.core.state(), State::fault);
  EXPECT_EQ(arm.core.reason(), Reason::speed);
}

TEST(Fault, IsNotLeftBehindByAGuidedArm) {
  Arm arm(Mode::gravity_compensation);
  arm.run(600);
  for (int i = 0; i < 4; ++i) {
    arm.core.measured().qd[0] = 3.1 + 0.01 * i;
    arm.run();
  }
  EXPECT_EQ(arm.core.state(), State::braking);
  EXPECT_EQ(arm.core.reason(), Reason::speed);
  arm.core.measured().qd[0] = 0.0;
  arm.run(400);
  EXPECT_EQ(arm.core.state(), State::gravity);
  EXPECT_EQ(arm.core.reason(), Reason::none);
}

// ---- Enabling ----------------------------------------------------------------------------------

TEST(Enable, WithFalseBrakesByTheMassMatrix) {
  Arm arm(Mode::computed_torque);
  arm.run(600);
  arm.request.is_enabled = false;
  arm.core.measured().qd = {0.5, 0.0};
  arm.run();
  EXPECT_EQ(arm.core.state(), State::braking);
  EXPECT_EQ(arm.core.reason(), Reason::disabled);
  for (int i = 0; i < 60; ++i) {  // a position that is repeated to the bit would be doubted
    arm.core.measured().q[0] += 1e-9;
    arm.run();
  }
  const std::vector<double> gravity = arm.gravity();
  const double slowing[2] = {-0.5 / 0.1, 0.0};
  std::vector<double> damping(2);
  arm.core.dynamics().inertia(arm.core.measured().q.data(), slowing, damping.data());
  EXPECT_NEAR(arm.effort()[0], gravity[0] + damping[0], 1e-9);
  EXPECT_NEAR(arm.effort()[1], gravity[1] + damping[1], 1e-9);
}

TEST(Enable, MakesNoStep) {
  for (Mode mode :
       {Mode::gravity_compensation, Mode::computed_torque, Mode::effort, Mode::feedforward}) {
    Arm arm(mode);
    arm.core.reference().effort = {2.0, 2.0};
    arm.run(1000);
    std::vector<double> before = arm.effort();
    for (int i = 0; i < 300; ++i) {
      if (i % 50 == 0) arm.request.is_enabled = !arm.request.is_enabled;
      if (i % 100 == 0) ++arm.request.enabled_count;
      arm.run();
      EXPECT_LE(largest_difference(arm.effort(), before), rate * 0.001 + 1e-9);
      before = arm.effort();
    }
  }
}

TEST(Enable, ThatChangesInEachCycleAddsNoDamping) {
  Arm arm(Mode::gravity_compensation);
  arm.run(600);
  const std::vector<double> gravity = arm.gravity();
  std::vector<double> damping(2);
  const double slowing[2] = {-0.5 / 0.1, 0.0};
  arm.core.dynamics().inertia(arm.core.measured().q.data(), slowing, damping.data());
  arm.core.measured().qd = {0.5, 0.0};
  for (int i = 0; i < 200; ++i) {
    arm.request.is_enabled = i % 2;
    arm.core.measured().q[0] += 1e-9;
    arm.run();
    EXPECT_LE(std::fabs(arm.effort()[0] - gravity[0]), 1.01 * std::fabs(damping[0]));
  }
}

// ---- Parameters --------------------------------------------------------------------------------

/// Returns the arm's parameters with a payload at its tool.
std::vector<double> loaded(ControlCore& core, double mass) {
  std::vector<double> values = core.dynamics().parameters();
  double* payload = &values[values.size() - 10];
  payload[0] = mass;
  payload[1] = 0.3 * mass;  // x of its center
  payload[7] = payload[9] = 0.09 * mass;  // Iyy and Izz
  return values;
}

TEST(Parameters, AreHandedOver) {
  Arm arm(Mode::computed_torque);
  arm.run(1000);
  std::vector<double> before = arm.effort();
  const double unloaded = before[0];
  arm.core.set_parameters(loaded(arm.core, 3.0).data());
  for (int i = 0; i < 600; ++i) {
    arm.run();
    EXPECT_LE(largest_difference(arm.effort(), before), 0.2);
    before = arm.effort();
  }
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
  EXPECT_GT(std::fabs(arm.effort()[0] - unloaded), 5.0);
}

TEST(Parameters, ThatComeInEachCycleDoNotFreezeTheEffort) {
  Arm arm(Mode::gravity_compensation);
  arm.run(1000);
  const std::vector<double> values = loaded(arm.core, 3.0);
  for (int i = 0; i < 1000; ++i) {
    arm.core.set_parameters(values.data());
    arm.run();
  }
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 0.5);
}

TEST(Parameters, DoNotPutOffThatTheFormerEffortEnds) {
  Arm arm(Mode::computed_torque);
  arm.run(1000);
  arm.core.measured().q[0] -= 0.15;  // the feedback pushes
  arm.run(5);
  const std::vector<double> pushing = arm.effort();
  arm.request.is_enabled = false;
  arm.run(5);
  arm.core.set_parameters(arm.core.dynamics().parameters().data());
  arm.run(60);
  EXPECT_GT(largest_difference(pushing, arm.gravity()), 5.0);
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

// ---- What else there is ------------------------------------------------------------------------

TEST(ControlCore, HoldsTheArmWithoutDamping) {
  Arm arm(Mode::computed_torque);
  arm.run(100);
  arm.core.measured().qd = {0.5, 0.5};
  arm.run(2);
  EXPECT_TRUE(arm.core.hold());
  EXPECT_LT(largest_difference(arm.effort(), arm.gravity()), 1e-9);
}

TEST(ControlCore, HoldsTheLastPoseThatItKnows) {
  // The effort of a motion that is left behind would go on to accelerate the arm.
  Arm arm(Mode::computed_torque);
  const std::vector<double> gravity = arm.gravity();
  arm.core.reference().acceleration = {3.0, 3.0};
  arm.run(100);
  arm.core.measured().q[0] = nan_value;
  EXPECT_FALSE(arm.run(200));
  EXPECT_GT(largest_difference(arm.effort(), gravity), 1.0);
  EXPECT_FALSE(arm.core.hold());
  EXPECT_LT(largest_difference(arm.effort(), gravity), 1e-9);
}

TEST(ControlCore, SendsNoMoreThanTheLimits) {
  Settings settings = settings_of(Mode::effort);
  settings.effort_limit_factor = 0.5;
  Arm arm(settings);
  arm.core.reference().effort = {0.0, 0.0};
  arm.run(1000);
  arm.core.reference().effort = {1e9, -1e9};
  arm.run(1000);
  EXPECT_EQ(arm.effort(), (std::vector<double>{50.0, -20.0}));
}

TEST(ControlCore, EnduresWrongPeriods) {
  Arm arm(Mode::computed_torque);
  arm.run(1000);
  arm.core.set_parameters(loaded(arm.core, 3.0).data());
  std::vector<double> before = arm.effort();
  for (double period : {0.0, -1.0, nan_value, infinite, 10.0, 0.1, 1e-12, 0.01}) {
    EXPECT_TRUE(arm.core.update({}, period));
    EXPECT_LE(largest_difference(arm.effort(), before), rate * 0.01);
    before = arm.effort();
  }
}

TEST(ControlCore, HasAnExternalEffortInAnyCase) {
  Arm arm(Mode::gravity_compensation);
  arm.run(10);
  EXPECT_EQ(arm.core.external_effort(), (std::vector<double>{0.0, 0.0}));
  Settings settings = settings_of(Mode::gravity_compensation);
  settings.external_effort_gain = 50.0;
  const auto build = [&] { ControlCore(model_of("arm_no_momentum"), settings); };
  EXPECT_TRUE(has(error_of(build), "joint_momentum"));
}

TEST(ControlCore, ObservesAPush) {
  for (const char* model : {"arm", "arm_franka"}) {  // whose hardware adds gravity and friction
    Settings settings = settings_of(Mode::gravity_compensation);
    settings.external_effort_gain = 50.0;
    Arm arm(settings, model);
    arm.run(1000);
    EXPECT_LT(largest_difference(arm.core.external_effort(), {0.0, 0.0}), 1e-6) << model;
    if (arm.core.dynamics().hardware_adds()) {  // then the measured effort is none to rely on
      arm.core.measured().effort = {1e3, 1e3};
      arm.run(100);
      EXPECT_LT(largest_difference(arm.core.external_effort(), {0.0, 0.0}), 1e-6) << model;
    }
  }
  Settings settings = settings_of(Mode::gravity_compensation);
  settings.external_effort_gain = 50.0;
  Arm arm(settings);
  arm.core.measured().effort = arm.gravity();
  arm.core.measured().effort[0] -= 3.0;
  arm.run(1000);
  EXPECT_LT(largest_difference(arm.core.external_effort(), {3.0, 0.0}), 1e-6);
  arm.core.measured().q[0] = nan_value;
  arm.run();
  EXPECT_EQ(arm.core.external_effort(), (std::vector<double>{0.0, 0.0}));
}

TEST(ControlCore, ObservesNothingWhereAnotherLoopAddsAnUnknownEffort) {
  Settings settings = settings_of(Mode::feedforward);
  settings.external_effort_gain = 50.0;
  Arm arm(settings);
  arm.core.reference().acceleration = {3.0, 0.0};
  arm.run(1000);
  EXPECT_EQ(arm.core.external_effort(), (std::vector<double>{0.0, 0.0}));
}

TEST(ControlCore, HasAWordForEachStateAndReason) {
  for (State state : {State::gravity, State::tracking, State::braking, State::fault})
    EXPECT_GT(std::string(name_of(state)).size(), 4u);
  for (int reason = 1; reason <= static_cast<int>(Reason::unusable_states); ++reason)
    EXPECT_GT(std::string(name_of(static_cast<Reason>(reason))).size(), 20u);
}

}  // namespace
}  // namespace ros2_rnea_controller
