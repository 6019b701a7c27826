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

#ifndef ROS2_RNEA_CONTROLLER__MODEL_HPP_
#define ROS2_RNEA_CONTROLLER__MODEL_HPP_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tape.h"

namespace ros2_rnea_controller {

/// What is asked for cannot be done, for the reason that the message gives.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The content of a model file, checked, with the names that C++ likes.  It does not change.
class Model {
 public:
  /// \throws Error where the bytes are no model file that this version reads, or where a parameter
  ///   in it is not finite.
  explicit Model(const std::vector<uint8_t>& file);

  /// \throws Error where the file cannot be read, or is no model file.
  static Model read(const std::string& path);

  Model(Model&&) = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const rnea_model& tapes() const { return model_; }
  std::string text(uint32_t place) const { return rnea_text(&model_, place); }

  std::size_t nq() const { return model_.header->nq; }
  std::size_t nv() const { return model_.header->nv; }
  uint32_t checksum() const { return model_.header->checksum; }
  std::string robot() const { return text(model_.header->name); }
  std::string description_hash() const { return text(model_.header->description_hash); }

  std::size_t joint_count() const { return model_.header->joints.count; }
  const rnea_joint& joint(std::size_t index) const { return model_.joints[index]; }
  std::string joint_name(std::size_t index) const { return text(joint(index).name); }
  std::string joint_names() const;

  /// Returns the joint of a name.
  /// \throws Error where there is none, or where it has other than one coordinate.
  const rnea_joint& joint(const std::string& name) const;

  std::size_t parameter_count() const { return model_.header->values.count; }
  const double* parameters() const { return model_.values; }

  /// Returns the places of parameters, such as "gravity"; nullptr where there are none.
  const rnea_parameter* parameter(const std::string& name) const;

  /// Returns whether another model differs from this one in the values of parameters at most.
  bool is_like(const Model& other) const;

  /// Returns whether the hardware adds a term of the effort by itself.
  bool is_left_out(const std::string& term) const;

  /// Returns the tape of a quantity.
  /// \throws Error where the model was exported without it.
  const rnea_tape& tape(const std::string& quantity) const;
  bool has(const std::string& quantity) const;

 private:
  std::vector<uint64_t> content_;  // aligned as the tapes need it
  rnea_model model_;
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__MODEL_HPP_
