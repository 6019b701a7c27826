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

#include "model_source.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>
#include <thread>
#include <utility>

namespace ros2_rnea_controller {

namespace {

constexpr char in_use[] =
    "another one is in use: deactivate the controller, and configure it again";

constexpr char other_publisher[] =
    "parameters of another publisher, such as a node that was started or configured again, are not "
    "taken while the controller is active: give its node those in use, with their payloads, and it "
    "is followed again; or deactivate the controller for a second";
constexpr double rounding = 1e-6;  // of payloads that are given once more in another order

/// Returns whether parameters are those of another list, but for rounding.
bool are_alike(const std::vector<double>& values, const std::vector<double>& others) {
  return values.size() == others.size() &&
         std::equal(values.begin(), values.end(), others.begin(), [](double one, double other) {
           return std::fabs(one - other) <= rounding * std::max(1.0, std::fabs(other));
         });
}

/// Returns the SHA-256 of a text, hexadecimal, as model files have it.
std::string sha256(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (!EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr)) return {};
  std::ostringstream hexadecimal;
  hexadecimal << std::hex;
  for (unsigned int i = 0; i < size; ++i)
    hexadecimal << (digest[i] >> 4) << (digest[i] & 15);
  return hexadecimal.str();
}

}  // namespace

ModelSource::ModelSource(
    rclcpp_lifecycle::LifecycleNode& node, const Settings& settings, std::string description)
    : node_(node), settings_(settings), description_(std::move(description)) {}

void ModelSource::read(const std::string& path) {
  use(std::make_shared<const Model>(Model::read(path)));
}

void ModelSource::subscribe(const std::string& topic) {
  const rclcpp::QoS latched = rclcpp::QoS(1).reliable().transient_local();
  models_ = node_.create_subscription<ros2_rnea_interfaces::msg::Model>(
      topic, latched,
      [this, key = gate_.key()](const ros2_rnea_interfaces::msg::Model& message) {
        key([&] { take(message); });
      });
  parameters_ = node_.create_subscription<ros2_rnea_interfaces::msg::ModelParameters>(
      topic + "_parameters", latched,
      [this, key = gate_.key()](
          const ros2_rnea_interfaces::msg::ModelParameters& message,
          const rclcpp::MessageInfo& info) {
        Given given{message, {}};
        const auto& id = info.get_rmw_message_info().publisher_gid.data;
        std::copy(std::begin(id), std::end(id), given.publisher.begin());
        key([&] { take(given); });
      });
}

void ModelSource::wait(const std::string& topic, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  while (true) {  // the subscription belongs to another thread of the executor
    const std::string reason = refusal();
    if (model()) return;
    if (!reason.empty()) throw Error(reason);
    if (Clock::now() > end)
      throw Error(
          "no model has come on " + topic + ": start the node of ros2_rnea, or set model_file");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::shared_ptr<ControlCore> ModelSource::model() {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  // While parameters are written, the control loop sees former ones: those of another model.
  const bool is_ready = lock && candidate_.core && parameters().number >= candidate_.number;
  return is_ready ? candidate_.core : nullptr;
}

void ModelSource::set_positions(const std::vector<double>& q) {
  for (std::size_t i = 0; i < q.size(); ++i)
    (*positions_)[i].store(q[i], std::memory_order_relaxed);
}

void ModelSource::forget_positions() {
  for (auto& each : *positions_) each = std::numeric_limits<double>::quiet_NaN();
}

const char* ModelSource::held_back() const { return is_held_back_ ? other_publisher : ""; }

std::string ModelSource::refusal() {
  const std::lock_guard<std::mutex> lock(refusal_mutex_);
  return refusal_;
}

void ModelSource::use(std::shared_ptr<const Model> model) {
  if (!description_.empty() && model->description_hash() != sha256(description_))
    throw Error(
        "the model of '" + model->robot() +
        "' was exported from another text than the robot_description of the controller manager: "
        "export it from that one, or set allow_other_description");
  auto core = std::make_shared<ControlCore>(model, settings_);
  auto check = std::make_unique<ParameterCheck>(model, settings_);
  auto positions = std::make_unique<std::vector<std::atomic<double>>>(model->nq());
  for (auto& each : *positions) each = std::numeric_limits<double>::quiet_NaN();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_in_use_) throw Error(in_use);
  candidate_ = {model, std::move(core), std::move(check), ++number_};
  checksums_ = {model->checksum()};
  publisher_.reset();
  is_held_back_ = false;
  values_.assign(model->parameters(), model->parameters() + model->parameter_count());
  positions_ = std::move(positions);
  waiting_.clear();
  accepted_.writeFromNonRT({number_, values_});
  forget_refusal();
}

void ModelSource::take(const ros2_rnea_interfaces::msg::Model& message) {
  if (message.file.empty()) {  // the node has no robot any more, and no payloads: the last stay
    publisher_ = Publisher{};  // of none: parameters that follow are those of another publisher
    return;
  }
  try {
    auto model = std::make_shared<const Model>(message.file);
    if (candidate_.model && candidate_.model->is_like(*model)) {  // of a node that started again
      checksums_.insert(model->checksum());
      if (!is_in_use_) {  // else the parameters that follow are judged, with their publisher
        publisher_.reset();
        take(std::vector<double>(
            model->parameters(), model->parameters() + model->parameter_count()));
      }
    } else {
      if (is_in_use_) throw Error(in_use);
      use(std::move(model));
    }
    take_early();
  } catch (const std::exception& error) {
    refuse("the model", error.what());
  }
}

void ModelSource::take(const Given& given) {
  try {
    if (!checksums_.count(given.message.model)) {
      early_ = given;  // the topics have no common order: their model may come yet
    } else if (
        is_in_use_ && publisher_ && *publisher_ != given.publisher &&
        !are_alike(given.message.values, values_)) {
      held_back_ = given;
      if (!is_held_back_.exchange(true)) RCLCPP_WARN(node_.get_logger(), "%s", other_publisher);
    } else {
      publisher_ = given.publisher;
      is_held_back_ = false;
      take(given.message.values);
    }
  } catch (const std::exception& error) {
    refuse("parameters", error.what());
  }
}

/// Takes parameters that came before their model.
void ModelSource::take_early() {
  if (!checksums_.count(early_.message.model) || early_.message.values.empty()) return;
  take(early_);
  early_ = Given();
}

void ModelSource::take(const std::vector<double>& values) {
  waiting_.clear();
  if (values == values_) return forget_refusal();
  const std::vector<double> q = positions();
  const std::string reason = candidate_.check->reason_to_refuse(
      values, values_, q.empty() ? nullptr : q.data());
  if (reason.empty()) return accept(values);
  waiting_ = values;
  refuse("parameters", reason);
}

void ModelSource::judge_again() {
  gate_.key()([this] {
    if (is_held_back_ && !is_in_use_ && !was_in_use_) take(held_back_);
    was_in_use_ = is_in_use_;
    const std::vector<double> q = positions();
    if (waiting_.empty() || q.empty() ||
        !candidate_.check->reason_to_refuse(waiting_, values_, q.data()).empty())
      return;
    accept(waiting_);
    waiting_.clear();
  });
}

void ModelSource::accept(const std::vector<double>& values) {
  values_ = values;
  accepted_.writeFromNonRT({++number_, values_});
  forget_refusal();
}

/// Returns the measured positions; none where they are not known.
std::vector<double> ModelSource::positions() const {
  std::vector<double> q;
  for (const auto& each : *positions_) q.push_back(each.load(std::memory_order_relaxed));
  const bool are_known =
      std::all_of(q.begin(), q.end(), [](double each) { return std::isfinite(each); });
  return are_known ? q : std::vector<double>();
}

void ModelSource::refuse(const std::string& what, const std::string& reason) {
  const std::lock_guard<std::mutex> lock(refusal_mutex_);
  const std::string text = what + " refused: " + reason;
  if (text != refusal_) RCLCPP_ERROR(node_.get_logger(), "%s", text.c_str());
  refusal_ = text;
}

void ModelSource::forget_refusal() {
  const std::lock_guard<std::mutex> lock(refusal_mutex_);
  refusal_.clear();
}

}  // namespace ros2_rnea_controller
