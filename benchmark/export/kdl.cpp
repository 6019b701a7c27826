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

// KDL's recursive Newton-Euler solver on a chain, whose states were made KDL's arrays beforehand.
#include <kdl/chain.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>

#include <vector>

namespace {

struct Segment {  // as in benchmark/kdl.py
  double prismatic, axis[3], position[3], rotation[9], mass, center[3], inertia[6];
};

const Segment segments[NV] = {
#include "segments.h"
};

KDL::Vector vector(const double *xyz) { return {xyz[0], xyz[1], xyz[2]}; }

KDL::Chain made() {
  KDL::Chain chain;
  for (const Segment &segment : segments) {
    const double *R = segment.rotation, *I = segment.inertia;
    const KDL::Frame frame(
        KDL::Rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]),
        vector(segment.position));
    const KDL::Joint joint(
        frame.p, frame.M * vector(segment.axis),
        segment.prismatic ? KDL::Joint::TransAxis : KDL::Joint::RotAxis);
    chain.addSegment(KDL::Segment(
        joint, frame, KDL::RigidBodyInertia(
            segment.mass, vector(segment.center),
            KDL::RotationalInertia(I[0], I[1], I[2], I[3], I[4], I[5]))));
  }
  return chain;
}

struct State { KDL::JntArray q, qd, qdd; };

const KDL::Chain chain = made();
const KDL::Wrenches none(NV, KDL::Wrench::Zero());
KDL::ChainIdSolver_RNE solver(chain, {0.0, 0.0, -9.81});
KDL::JntArray tau(NV);
std::vector<State> states;

KDL::JntArray array(const double *numbers) {
  KDL::JntArray made(NV);
  made.data = Eigen::Map<const Eigen::VectorXd>(numbers, NV);
  return made;
}

}  // namespace

extern "C" void loop(const double *inputs, double *outputs) {
  if (states.empty())
    for (int i = 0; i < STATES; ++i) {
      const double *q = inputs + i * 3 * NV;
      states.push_back({array(q), array(q + NV), array(q + 2 * NV)});
    }
  for (int r = 0; r < REPEATED; ++r)
    for (int i = 0; i < STATES; ++i) {
      const State &state = states[i];
      solver.CartToJnt(state.q, state.qd, state.qdd, none, tau);
      for (int j = 0; j < NV; ++j) outputs[i * NV + j] = tau(j);
    }
}
