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

#pragma once

#include <pinocchio/multibody.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <string>

// Returns Pinocchio's model of a URDF.
inline pinocchio::Model model_of(const std::string &urdf, bool floating) {
  pinocchio::Model model;
  if (floating)
    pinocchio::urdf::buildModelFromXML(urdf, pinocchio::JointModelFreeFlyer(), model);
  else
    pinocchio::urdf::buildModelFromXML(urdf, model);
  return model;
}
