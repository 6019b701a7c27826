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

// Pinocchio's rnea() as a program in C++ calls it, on vectors that were made beforehand.
#include <pinocchio/algorithm/rnea.hpp>

#include <vector>

#include "model.hpp"

namespace {

struct State { Eigen::VectorXd q, qd, qdd; };

struct Robot {
  pinocchio::Model model;
  pinocchio::Data data;
  std::vector<State> states;
};

}  // namespace

extern "C" Robot *made(const char *urdf, int floating) {
  const pinocchio::Model model = model_of(urdf, floating);
  return new Robot{model, pinocchio::Data(model), {}};
}

extern "C" void loop(const double *inputs, double *outputs, Robot *robot) {
  const int nq = robot->model.nq, nv = robot->model.nv;
  if (robot->states.empty())
    for (int i = 0; i < STATES; ++i) {
      const double *q = inputs + i * (nq + 2 * nv), *qd = q + nq, *qdd = qd + nv;
      robot->states.push_back({Eigen::VectorXd::Map(q, nq), Eigen::VectorXd::Map(qd, nv),
                               Eigen::VectorXd::Map(qdd, nv)});
    }
  for (int r = 0; r < REPEATED; ++r)
    for (int i = 0; i < STATES; ++i) {
      const State &state = robot->states[i];
      Eigen::VectorXd::Map(outputs + i * nv, nv) =
          pinocchio::rnea(robot->model, robot->data, state.q, state.qd, state.qdd);
    }
}
