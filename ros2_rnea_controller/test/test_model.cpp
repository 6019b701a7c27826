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

TEST(Model, HasWhatTheFileHas) {
  const auto model = model_of("gantry");
  EXPECT_EQ(model->robot(), "gantry");
  EXPECT_EQ(model->joint_names(), "turntable, lift, grip");  // the thumb mimics the grip
  EXPECT_EQ(model->nq(), 3u);
  EXPECT_EQ(model->text(model->joint("lift").unit), "m");
  EXPECT_EQ(model->joint("lift").effort, 500.0);
  EXPECT_TRUE(std::isinf(model->joint("turntable").velocity));
  EXPECT_TRUE(model->has("gravity"));
  EXPECT_FALSE(model->has("mass_matrix"));
  EXPECT_EQ(model->parameter("gravity")->count, 3u);
  EXPECT_EQ(model->parameter("nothing"), nullptr);
}

TEST(Model, KnowsWhatTheHardwareAdds) {
  const auto model = model_of("arm_franka");
  EXPECT_TRUE(model->is_left_out("gravity"));
  EXPECT_TRUE(model->is_left_out("friction"));
  EXPECT_FALSE(model->is_left_out("coriolis"));
  EXPECT_FALSE(model->is_left_out("grav"));
}

TEST(Model, StaysWhereItIsMoved) {
  Model first = Model::read(path_of("arm"));
  const Model second = std::move(first);
  EXPECT_EQ(second.joint_names(), "shoulder, elbow");
  EXPECT_EQ(second.parameters()[2], -9.81);
}

TEST(Model, IsLikeOneWithOtherValuesAlone) {
  const auto model = model_of("arm");
  const Model tilted(changed("arm", [](const rnea_model& other) {
    const_cast<double*>(other.values)[0] = 3.0;
  }));
  const Model limited(changed("arm", [](const rnea_model& other) {
    const_cast<rnea_joint*>(other.joints)[0].effort = 3.0;
  }));
  EXPECT_NE(model->checksum(), tilted.checksum());
  EXPECT_TRUE(model->is_like(tilted));
  EXPECT_FALSE(model->is_like(limited));
  EXPECT_FALSE(model->is_like(*model_of("gantry")));
}

TEST(Model, SaysWhichFileIsWrongAndHow) {
  EXPECT_TRUE(has(error_of([] { Model::read("/nowhere.rnea"); }), "'/nowhere.rnea'"));
  EXPECT_TRUE(has(error_of([] { Model::read("/"); }), "cannot be read"));
  EXPECT_TRUE(has(error_of([] { Model(std::vector<uint8_t>{}); }), "no model file"));
  std::vector<uint8_t> bytes = bytes_of("arm");
  bytes.back() ^= 1;
  EXPECT_TRUE(has(error_of([&] { Model{bytes}; }), "checksum"));
}

TEST(Model, NamesTheParameterThatIsNotFinite) {
  const auto error = [](std::size_t (*place)(const rnea_model&), double value) {
    const std::vector<uint8_t> bytes = changed("arm", [&](const rnea_model& model) {
      const_cast<double*>(model.values)[place(model)] = value;
    });
    return error_of([&] { Model{bytes}; });
  };
  for (double bad : {nan_value, infinite, -infinite}) {
    const std::string gravity = error([](const rnea_model&) -> std::size_t { return 2; }, bad);
    EXPECT_TRUE(has(gravity, "the parameter gravity of the model file is not")) << gravity;
    const std::string last = error(
        [](const rnea_model& model) -> std::size_t {
          const rnea_parameter* parameter = model.parameters;
          while (std::string(rnea_text(&model, parameter->name)) != "damping") ++parameter;
          return parameter->first + parameter->count - 1;
        },
        bad);
    EXPECT_TRUE(has(last, "the parameter damping of joint 'elbow' of the model")) << last;
  }
}

TEST(Model, NamesTheJointsThatItHas) {
  const auto model = model_of("rover");
  EXPECT_TRUE(has(error_of([&] { model->joint("tilt"); }), "it has drive, pan"));
  EXPECT_TRUE(has(error_of([&] { model->joint("drive"); }), "type planar"));
}

}  // namespace
}  // namespace ros2_rnea_controller
