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

#include "model.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ros2_rnea_controller {

Model::Model(const std::vector<uint8_t>& file) : content_(file.size() / 8 + 1) {
  if (!file.empty()) std::memcpy(content_.data(), file.data(), file.size());
  const char* error = rnea_load(content_.data(), file.size(), &model_);
  if (error) throw Error(error);
  for (uint32_t k = 0; k < model_.header->parameters.count; ++k) {
    const rnea_parameter& parameter = model_.parameters[k];
    for (uint32_t i = 0; i < parameter.count; ++i)
      if (!std::isfinite(model_.values[parameter.first + i]))
        throw Error(
            "the parameter " + text(parameter.name) +
            (parameter.width ? " of joint '" + text(model_.bodies[i / parameter.width].joint) + "'"
                             : std::string()) +
            " of the model file is not a finite number: export it again");
  }
}

Model Model::read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error("the model file '" + path + "' cannot be opened");
  try {
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    return Model(std::vector<uint8_t>(bytes.begin(), bytes.end()));
  } catch (const std::ios_base::failure&) {  // of a folder, for example
    throw Error("the model file '" + path + "' cannot be read");
  } catch (const Error& error) {
    throw Error("'" + path + "': " + error.what());
  }
}

std::string Model::joint_names() const {
  std::string names;
  for (std::size_t i = 0; i < joint_count(); ++i) names += (i ? ", " : "") + joint_name(i);
  return names;
}

const rnea_joint& Model::joint(const std::string& name) const {
  for (std::size_t i = 0; i < joint_count(); ++i) {
    if (joint_name(i) != name) continue;
    if (joint(i).nq != 1 || joint(i).nv != 1)
      throw Error(
          "joint '" + name + "' is of type " + text(joint(i).type) +
          "; the controller needs joints with one coordinate");
    return joint(i);
  }
  throw Error("the model has no joint '" + name + "'; it has " + joint_names());
}

const rnea_parameter* Model::parameter(const std::string& name) const {
  for (uint32_t i = 0; i < model_.header->parameters.count; ++i)
    if (text(model_.parameters[i].name) == name) return &model_.parameters[i];
  return nullptr;
}

bool Model::is_like(const Model& other) const {
  if (content_.size() != other.content_.size()) return false;
  const auto first = model_.header->values.offset / 8, count = model_.header->values.count;
  for (std::size_t i = 0; i < content_.size(); ++i) {
    const bool may_differ = i == 1 || (i >= first && i < first + count);  // 1: version, checksum
    if (content_[i] != other.content_[i] && !may_differ) return false;
  }
  return true;
}

bool Model::is_left_out(const std::string& term) const {
  std::istringstream terms(text(model_.header->left_out));
  for (std::string each; terms >> each;)
    if (each == term) return true;
  return false;
}

bool Model::has(const std::string& quantity) const {
  return rnea_find(&model_, quantity.c_str()) != nullptr;
}

const rnea_tape& Model::tape(const std::string& quantity) const {
  const rnea_tape* tape = rnea_find(&model_, quantity.c_str());
  if (!tape)
    throw Error(
        "the model lacks the quantity '" + quantity + "': export it with --quantities " +
        quantity + ",...");
  return *tape;
}

}  // namespace ros2_rnea_controller
