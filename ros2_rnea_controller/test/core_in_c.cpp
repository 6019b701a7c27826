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

// The core as functions in C, by which tests in Python drive it over ctypes.

#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "control_core.hpp"
#include "feedback_stability.hpp"
#include "parameter_check.hpp"

using namespace ros2_rnea_controller;

namespace {

struct Core {
  std::shared_ptr<const Model> model;
  Settings settings;
  std::unique_ptr<ControlCore> core;
  Request request;
  std::string text;
};

Core* of(void* core) { return static_cast<Core*>(core); }

template <class Function>
const char* tried(Core& core, Function function) {
  try {
    function();
    return nullptr;
  } catch (const std::exception& error) {
    core.text = error.what();
    return core.text.c_str();
  }
}

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string each; stream >> each;) all.push_back(each);
  return all;
}

}  // namespace

extern "C" {

void* core_new() { return new Core; }
void core_delete(void* core) { delete of(core); }

/// Functions that return text return nullptr, or what is wrong.
const char* core_load(void* core, const uint8_t* bytes, size_t size) {
  return tried(*of(core), [&] {
    of(core)->model = std::make_shared<const Model>(std::vector<uint8_t>(bytes, bytes + size));
  });
}

const char* core_names(void* core, const char* setting, const char* names) {
  return tried(*of(core), [&] {
    Settings& settings = of(core)->settings;
    const std::string name = setting;
    auto& place = name == "joints"            ? settings.joints
                  : name == "measured_joints" ? settings.measured_joints
                  : name == "assumed_joints"  ? settings.assumed_joints
                                              : throw Error("no such setting: " + name);
    place = words(names);
  });
}

const char* core_numbers(void* core, const char* setting, const double* values, size_t count) {
  return tried(*of(core), [&] {
    Settings& settings = of(core)->settings;
    const std::string name = setting;
    auto& place = name == "assumed_positions" ? settings.assumed_positions
                  : name == "position_gains"  ? settings.position_gains
                  : name == "velocity_gains"  ? settings.velocity_gains
                  : name == "effort_limits"   ? settings.effort_limits
                                              : throw Error("no such setting: " + name);
    place.assign(values, values + count);
  });
}

const char* core_number(void* core, const char* setting, double value) {
  return tried(*of(core), [&] {
    Settings& settings = of(core)->settings;
    const std::string name = setting;
    if (name == "mode") {
      settings.mode = static_cast<Mode>(static_cast<int>(value));
    } else if (name == "passes_position") {
      settings.passes_position = value != 0.0;
    } else if (name == "passes_velocity") {
      settings.passes_velocity = value != 0.0;
    } else {
      auto& place = name == "effort_limit_factor"    ? settings.effort_limit_factor
                    : name == "period"               ? settings.period
                    : name == "feedback_delay"       ? settings.feedback_delay
                    : name == "blend_time"           ? settings.blend_time
                    : name == "braking_time"         ? settings.braking_time
                    : name == "guiding_time"         ? settings.guiding_time
                    : name == "state_timeout"        ? settings.state_timeout
                    : name == "hold_tolerance"       ? settings.hold_tolerance
                    : name == "path_tolerance"       ? settings.path_tolerance
                    : name == "trip_deviation"       ? settings.trip_deviation
                    : name == "trip_velocity_factor" ? settings.trip_velocity_factor
                    : name == "external_effort_gain" ? settings.external_effort_gain
                                                     : throw Error("no such setting: " + name);
      place = value;
    }
  });
}

const char* core_build(void* core) {
  return tried(*of(core), [&] {
    of(core)->core = std::make_unique<ControlCore>(of(core)->model, of(core)->settings);
  });
}

/// Returns one of the core's arrays, to be read or written in place, and its size.
double* core_array(void* core, const char* array, size_t* size) {
  ControlCore& c = *of(core)->core;
  auto& command = const_cast<Command&>(c.command());
  const std::string name = array;
  auto& values = name == "q"                ? c.measured().q
                 : name == "qd"             ? c.measured().qd
                 : name == "measured"       ? c.measured().effort
                 : name == "position"       ? c.reference().position
                 : name == "velocity"       ? c.reference().velocity
                 : name == "acceleration"   ? c.reference().acceleration
                 : name == "reference"      ? c.reference().effort
                 : name == "effort"         ? command.effort
                 : name == "position_sent"  ? command.position
                 : name == "velocity_sent"  ? command.velocity
                 : const_cast<std::vector<double>&>(
                       name == "model_effort" ? c.model_effort() : c.external_effort());
  *size = values.size();
  return values.data();
}

size_t core_place(void* core, const char* joint) { return of(core)->core->q_place(joint); }
int core_start(void* core, const double* held) { return of(core)->core->start(held); }
int core_hold(void* core) { return of(core)->core->hold(); }

void core_enable(void* core, int is_enabled) {
  of(core)->request.is_enabled = is_enabled != 0;
  if (is_enabled) ++of(core)->request.enabled_count;
}

int core_update(void* core, double period) {
  return of(core)->core->update(of(core)->request, period);
}

void core_parameters(void* core, const double* values) { of(core)->core->set_parameters(values); }
const char* core_state(void* core) { return name_of(of(core)->core->state()); }
int core_reason(void* core) { return static_cast<int>(of(core)->core->reason()); }
int core_rests(void* core) { return of(core)->core->is_at_rest(); }

/// Returns why other parameters are refused at the measured positions; empty: they are not.
const char* core_refusal(void* core, const double* values, size_t count) {
  Core& c = *of(core);
  ParameterCheck check(c.model, c.settings);
  c.text = check.reason_to_refuse(
      std::vector<double>(values, values + count), c.core->dynamics().parameters(),
      c.core->measured().q.data());
  return c.text.c_str();
}

int core_is_stable(double kp, double kd, double period, double delay) {
  return is_stable(kp, kd, period, delay);
}

}  // extern "C"
