# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""Rotations for the test oracles, over real or complex numbers (so that a complex step works)."""

from __future__ import annotations

import numpy as np


def skew(v):
    """Return the 3x3 matrix K with K @ u = v x u."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_about(axis, angle):
    """Return R = exp(skew(axis) angle) by Rodrigues' formula; ``axis`` has unit length."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def rotation_from_rpy(rpy):
    """Return Rz(yaw) Ry(pitch) Rx(roll), which is what URDF means by rpy."""
    roll, pitch, yaw = rpy
    x, y, z = np.eye(3)
    return rotation_about(z, yaw) @ rotation_about(y, pitch) @ rotation_about(x, roll)


def rotation_from_quaternion(quaternion):
    """Return the rotation of the unit quaternion (x, y, z, w): body axes to parent axes."""
    vector, w = np.asarray(quaternion[:3]), quaternion[3]
    K = skew(vector)
    return np.eye(3) + 2.0 * w * K + 2.0 * (K @ K)


def rpy_from_rotation(rotation):
    """Return roll, pitch, yaw of a rotation; pitch away from +-90 degrees is assumed."""
    return np.array([
        np.arctan2(rotation[2, 1], rotation[2, 2]),
        np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0])),
        np.arctan2(rotation[1, 0], rotation[0, 0]),
    ])


def frame_with_z_along(axis):
    """Return a rotation whose third column is ``axis`` (of unit length)."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(helper, axis)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
