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

#include "support.hpp"

namespace ros2_rnea_controller {
namespace {

using Change = std::function<void(Settings&)>;

/// Returns why the settings of a mode are refused after a change; empty: they are not.
std::string refusal(Mode mode, const Change& change, const std::string& model = "arm") {
  Settings settings = settings_of(mode);
  change(settings);
  return error_of([&] { checked(settings, *model_of(model)); });
}

TEST(Settings, OfEachModeAreAccepted) {
  for (Mode mode :
       {Mode::gravity_compensation, Mode::feedforward, Mode::computed_torque, Mode::effort})
    EXPECT_EQ(refusal(mode, [](Settings&) {}), "");
}

TEST(Settings, GetANumberForEachJoint) {
  const Settings settings = checked(settings_of(Mode::computed_torque), *model_of("arm"));
  EXPECT_EQ(settings.position_gains, (std::vector<double>{100.0, 100.0}));
  EXPECT_EQ(settings.effort_limits, (std::vector<double>{100.0, 40.0}));
}

struct Case {
  const char* words;
  Change change;
};

TEST(Settings, ThatDoNotFitAreRefusedWithTheReason) {
  const Case cases[] = {
      {"joints is empty", [](Settings& s) { s.joints.clear(); }},
      {"no joint 'wrist'", [](Settings& s) { s.joints.push_back("wrist"); }},
      {"no joint 'flange'", [](Settings& s) { s.joints.push_back("flange"); }},
      {"'elbow' is named twice", [](Settings& s) { s.joints.push_back("elbow"); }},
      {"'elbow' is named twice", [](Settings& s) { s.measured_joints = {"elbow"}; }},
      {"'elbow' of the model is neither", [](Settings& s) { s.joints.pop_back(); }},
      {"assumed_positions needs one", [](Settings& s) { s.assumed_joints = {"elbow"}; }},
      {"number of assumed_positions is nan",
       [](Settings& s) {
         s.joints.pop_back();
         s.assumed_joints = {"elbow"};
         s.assumed_positions = {nan_value};
       }},
      {"effort limit 0", [](Settings& s) { s.effort_limits = {0.0}; }},
      {"effort limit nan", [](Settings& s) { s.effort_limits = {50.0, nan_value}; }},
      {"effort limit inf", [](Settings& s) { s.effort_limits = {infinite}; }},
      {"effort_limits has 3 numbers", [](Settings& s) { s.effort_limits = {1.0, 2.0, 3.0}; }},
      {"effort_limit_factor is 1.1", [](Settings& s) { s.effort_limit_factor = 1.1; }},
      {"period of the cycle is 0", [](Settings& s) { s.period = 0.0; }},
      {"period of the cycle is nan", [](Settings& s) { s.period = nan_value; }},
      {"period of the cycle is 0.05", [](Settings& s) { s.period = 0.05; }},
      {"feedback_delay is -1", [](Settings& s) { s.feedback_delay = -1.0; }},
      {"blend_time is inf", [](Settings& s) { s.blend_time = infinite; }},
      {"braking_time is 0", [](Settings& s) { s.braking_time = 0.0; }},
      {"guiding_time is -1", [](Settings& s) { s.guiding_time = -1.0; }},
      {"state_timeout is 0", [](Settings& s) { s.state_timeout = 0.0; }},
      {"path_tolerance is 0", [](Settings& s) { s.path_tolerance = 0.0; }},
      {"trip_deviation is 0.5", [](Settings& s) { s.trip_deviation = 0.5; }},
      {"trip_velocity_factor is 0", [](Settings& s) { s.trip_velocity_factor = 0.0; }},
      {"external_effort_gain is nan", [](Settings& s) { s.external_effort_gain = nan_value; }},
      {"position_gains has 0", [](Settings& s) { s.position_gains.clear(); }},
      {"both have to be above 0", [](Settings& s) { s.position_gains = {0.0}; }},
      {"both have to be above 0", [](Settings& s) { s.velocity_gains = {infinite}; }},
      {"would oscillate", [](Settings& s) { s.velocity_gains = {2000.0}; }},
      {"would oscillate", [](Settings& s) { s.feedback_delay = 0.2; }},
      {"only mode feedforward", [](Settings& s) { s.passes_velocity = true; }},
  };
  for (const Case& each : cases) {
    const std::string words = refusal(Mode::computed_torque, each.change);
    EXPECT_TRUE(has(words, each.words)) << "'" << words << "' lacks '" << each.words << "'";
  }
}

TEST(Settings, OfFeedforwardNeedALoopBelow) {
  const Change alone = [](Settings& s) { s.passes_position = false; };
  EXPECT_TRUE(has(refusal(Mode::feedforward, alone), "has no feedback"));
}

TEST(Settings, NameAllJointsAndNoOther) {
  Settings settings;
  settings.joints = {"turntable", "lift"};
  const auto words = [&] { return error_of([&] { checked(settings, *model_of("gantry")); }); };
  EXPECT_TRUE(has(words(), "'grip' of the model is neither"));
  settings.measured_joints = {"grip"};
  EXPECT_TRUE(has(words(), "'turntable' has the effort limit inf")) << words();
  settings.effort_limits = {50.0, 2e4};  // a force may be larger than a torque
  EXPECT_EQ(words(), "");
  settings.effort_limits = {2e4, 500.0};
  EXPECT_TRUE(has(words(), "up to 10000"));
  settings.effort_limits = {50.0, 500.0};
  settings.measured_joints = {"grip", "thumb_joint"};
  EXPECT_TRUE(has(words(), "no joint 'thumb_joint'"));
}

TEST(Settings, AcceptNoRobotWithJointsOfSeveralCoordinates) {
  Settings settings;
  settings.joints = {"pan"};
  const auto words = [&] { return error_of([&] { checked(settings, *model_of("rover")); }); };
  EXPECT_TRUE(has(words(), "'drive' of the model"));
  settings.measured_joints = {"drive"};
  EXPECT_TRUE(has(words(), "type planar"));
  settings.measured_joints.clear();
  settings.assumed_joints = {"drive"};
  settings.assumed_positions = {0.0};
  EXPECT_TRUE(has(words(), "type planar"));
}

TEST(Settings, AcceptNoRobotWithoutJoints) {
  Settings settings;
  EXPECT_TRUE(has(error_of([&] { checked(settings, *model_of("pole")); }), "joints is empty"));
}

}  // namespace
}  // namespace ros2_rnea_controller
