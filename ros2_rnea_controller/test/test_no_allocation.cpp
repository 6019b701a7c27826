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

// Memory is asked for nowhere in update(), whatever it is given: malloc and its like are counted.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "support.hpp"

#ifdef __GLIBC__
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);
}
#endif

namespace {

std::atomic<bool> is_counting{false};
std::atomic<int> calls{0};

void count() {
  if (is_counting) ++calls;
}

}  // namespace

#ifdef __GLIBC__
// operator new and delete come here, too; they cannot be told from others, and need not be.
extern "C" {
void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
  count();
  return __libc_realloc(memory, size);
}
void free(void* memory) {
  if (memory) count();
  __libc_free(memory);
}
}
#else
void* operator new(std::size_t size) {
  count();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  count();
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  count();
  std::free(memory);
}
#endif

namespace ros2_rnea_controller {
namespace {

TEST(NoAllocation, CountsWhatItShould) {
  is_counting = true;
  { const std::vector<double> some(1000); }
  std::free(std::malloc(1000));
  is_counting = false;
  EXPECT_GE(calls.exchange(0), 2);
}

/// What can happen to an arm, from one cycle to the next.
void happen(int event, Arm& arm, const std::vector<double>& parameters) {
  Reference& reference = arm.core.reference();
  switch (event) {
    case 0: arm.follow(0.35, -0.5); break;
    case 1: arm.follow(nan_value, -0.5); break;
    case 2: arm.follow(5.0, -0.5); break;
    case 3: arm.follow(0.3, -0.5); break;
    case 4: arm.request.is_enabled = !arm.request.is_enabled; break;
    case 5: ++arm.request.enabled_count; break;
    case 6: arm.core.measured().qd[0] = nan_value; break;
    case 7: arm.core.measured().qd[0] = 20.0; break;
    case 8: arm.core.measured().qd[0] = 0.0; break;
    case 9: arm.core.set_parameters(parameters.data()); break;
    case 10: reference.effort[0] = reference.effort[0] < 1.0 ? 30.0 : nan_value; break;
    case 11: reference.effort[0] = reference.effort[1] = 0.5; break;
    case 12: arm.core.measured().effort[0] = arm.core.measured().effort[1] = 1.0; break;
    case 13: arm.core.measured().effort[0] = nan_value; break;
    case 14: reference.acceleration[0] = 1e308; break;
    case 15: arm.core.hold(); break;
    case 16: reference.effort = arm.core.model_effort(); break;
    default: arm.core.start(arm.held.data()); break;
  }
}

TEST(NoAllocation, InAnyModeStateOrTransition) {
  unsigned states = 0, reasons = 0;
  for (Mode mode :
       {Mode::gravity_compensation, Mode::feedforward, Mode::computed_torque, Mode::effort})
    for (const char* model : {"arm", "arm_franka", "arm_gravity_only"}) {
      Settings settings = settings_of(mode);
      settings.external_effort_gain = 50.0;
      settings.blend_time = 0.05;
      Arm arm(settings, model);
      std::vector<double> parameters = arm.core.dynamics().parameters();
      parameters[2] *= 1.1;
      uint32_t random = 1;
      is_counting = true;
      for (int i = 0; i < 20000; ++i) {
        random = random * 1664525u + 1013904223u;
        happen(static_cast<int>((random >> 16) % 60), arm, parameters);
        arm.core.update(arm.request, random >> 28 ? 0.001 : nan_value);
        states |= 1u << static_cast<unsigned>(arm.core.state());
        reasons |= 1u << static_cast<unsigned>(arm.core.reason());
        arm.core.external_effort();
        arm.core.model_effort();
        arm.core.is_at_rest();
      }
      is_counting = false;
      EXPECT_EQ(calls.exchange(0), 0) << model;
    }
  EXPECT_EQ(states, 0xFu) << "not all states have been seen";
  EXPECT_EQ(reasons, 0x1FFu) << "not all reasons have been seen";
}

}  // namespace
}  // namespace ros2_rnea_controller
