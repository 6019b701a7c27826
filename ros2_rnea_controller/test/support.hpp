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

#ifndef SUPPORT_HPP_
#define SUPPORT_HPP_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "control_core.hpp"

namespace ros2_rnea_controller {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Returns the path of a model file that CMakeLists.txt names.
inline std::string path_of(const std::string& name) {
  return std::string(MODELS) + "/" + name + ".rnea";
}

inline std::shared_ptr<const Model> model_of(const std::string& name) {
  return std::make_shared<const Model>(Model::read(path_of(name)));
}

inline std::vector<uint8_t> bytes_of(const std::string& name) {
  std::ifstream stream(path_of(name), std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  return {bytes.begin(), bytes.end()};
}

/// Returns a model file in which somebody has changed something, with the checksum that fits.
inline std::vector<uint8_t> changed(
    const std::string& name, const std::function<void(const rnea_model&)>& change) {
  std::vector<uint8_t> bytes = bytes_of(name);
  std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
  auto* copy = reinterpret_cast<uint8_t*>(aligned.data());
  std::copy(bytes.begin(), bytes.end(), copy);
  rnea_model model;
  if (rnea_load(copy, bytes.size(), &model)) return {};
  change(model);
  uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 16; i < bytes.size(); ++i) {
    crc ^= copy[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0xEDB88320u : 0u);
  }
  const_cast<rnea_header*>(model.header)->checksum = ~crc;
  return {copy, copy + bytes.size()};
}

/// Returns the words of an Error that a function throws; empty: it throws none.
inline std::string error_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns settings of the arm in a mode, with the recommended gains.
inline Settings settings_of(Mode mode) {
  Settings settings;
  settings.mode = mode;
  settings.joints = {"shoulder", "elbow"};
  settings.position_gains = {100.0};
  settings.velocity_gains = {20.0};
  settings.passes_position = mode == Mode::feedforward;
  return settings;
}

/// A core of the arm that has begun at a pose, at rest.
struct Arm {
  explicit Arm(const Settings& settings, const std::string& model = "arm")
      : core(model_of(model), settings) {
    core.measured().q = {0.3, -0.5};
    core.start(held.data());
    follow(0.3, -0.5);
  }
  explicit Arm(Mode mode, const std::string& model = "arm") : Arm(settings_of(mode), model) {}

  /// Lets another controller want a pose, at rest.
  void follow(double shoulder, double elbow) {
    core.reference().position = {shoulder, elbow};
    core.reference().velocity = {0.0, 0.0};
    core.reference().acceleration = {0.0, 0.0};
  }

  /// Runs so many cycles; returns whether the states could be used.
  bool run(int cycles = 1) {
    bool is_usable = true;
    for (int i = 0; i < cycles; ++i) is_usable = core.update(request, 0.001);
    return is_usable;
  }

  /// What holds the measured pose.
  std::vector<double> gravity() {
    std::vector<double> efforts(2);
    core.dynamics().holding_effort(core.measured().q.data(), efforts.data());
    return efforts;
  }

  const std::vector<double>& effort() const { return core.command().effort; }

  std::vector<double> held{nan_value, nan_value};
  ControlCore core;
  Request request;
};

}  // namespace ros2_rnea_controller

#endif  // SUPPORT_HPP_
