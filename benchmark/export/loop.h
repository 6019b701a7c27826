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

// Goes through the states in C, so that the call from Python costs nothing.
#define LOOP(...)                                                         \
  for (int r = 0; r < REPEATED; ++r)                                      \
    for (int i = 0; i < STATES; ++i) {                                    \
      const double *q = inputs + i * (NQ + 2 * NV), *qd = q + NQ, *qdd = qd + NV; \
      double *out = outputs + i * NV;                                     \
      __VA_ARGS__;                                                        \
    }
