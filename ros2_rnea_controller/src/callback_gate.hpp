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

#ifndef ROS2_RNEA_CONTROLLER__CALLBACK_GATE_HPP_
#define ROS2_RNEA_CONTROLLER__CALLBACK_GATE_HPP_

#include <memory>
#include <mutex>
#include <utility>

namespace ros2_rnea_controller {

/// Lets callbacks run only while the object that they belong to is there.
///
/// An executor may run a callback while another thread destroys its subscription.  The destructor
/// of the gate waits for a callback that runs, and no other one begins after that.
class CallbackGate {
  struct State {
    std::mutex mutex;
    bool is_open = true;
  };

 public:
  /// What a callback keeps: it calls a function while the gate is open.
  class Key {
   public:
    explicit Key(std::shared_ptr<State> state) : state_(std::move(state)) {}

    template <class Function>
    void operator()(const Function& function) const {
      const std::lock_guard<std::mutex> lock(state_->mutex);
      if (state_->is_open) function();
    }

   private:
    std::shared_ptr<State> state_;
  };

  CallbackGate() = default;
  CallbackGate(const CallbackGate&) = delete;
  CallbackGate& operator=(const CallbackGate&) = delete;

  ~CallbackGate() {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->is_open = false;
  }

  Key key() const { return Key(state_); }

 private:
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ros2_rnea_controller

#endif  // ROS2_RNEA_CONTROLLER__CALLBACK_GATE_HPP_
