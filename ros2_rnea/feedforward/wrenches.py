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
"""The wrenches that are known to act on the robot, the newest of each frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_rnea.errors import did_you_mean, MessageError
from ros2_rnea.feedforward.fading import share_left
from ros2_rnea.model.tree import BASE, Tree
from ros2_rnea.spatial import Force, Vector


class ExternalWrenches:
    """
    Wrenches by the link in whose frame they are given; several links' wrenches add up.

    :param tree: of the robot.
    :param timeout: a wrench counts for this long after it came [s].
    :param fade_time: and then fades for this long, so that no effort makes a step [s].
    :param exerted_by_robot: whether messages tell what the robot does to the environment.
    """

    def __init__(
            self,
            tree: Tree,
            timeout: float,
            fade_time: float = 0.0,
            exerted_by_robot: bool = False) -> None:
        self.timeout = timeout
        self.fade_time = fade_time
        self.sign = -1.0 if exerted_by_robot else 1.0
        self._tree = tree
        self._links = frozenset(
            name for name, frame in tree.links.items() if frame.body != BASE)
        self._rows = np.zeros((len(tree.bodies), 6))
        self._newest: dict[str, tuple[float, np.ndarray]] = {}

    def update(self, frame: str, moment_force: Sequence[float], now: float) -> None:
        """
        Take over a wrench [moment; force] about the origin of a link's frame, in its axes.

        :raises MessageError: where no moving link has the frame's name, or the value is not six
            finite numbers.
        """
        if frame not in self._links:
            hint = did_you_mean(frame, self._links)
            raise MessageError(
                f'the wrench frame {frame!r} is not a link that joints move, so that the wrench '
                f'would change no effort{hint}')
        value = np.asarray(moment_force, dtype=float)
        if value.shape != (6,) or not np.isfinite(value).all():
            raise MessageError(
                f'the wrench in frame {frame!r} is {value.tolist()}; it needs 6 finite numbers')
        self._newest[frame] = (now, value)

    def adopt(self, older: ExternalWrenches) -> None:
        """Take over what an earlier object has of the same frames."""
        self._newest = {f: w for f, w in older._newest.items() if f in self._links}

    def active(self, now: float) -> dict[str, np.ndarray]:
        """Return what the environment does to the robot now: [moment; force] by link."""
        active = {}
        for frame, (received, value) in self._newest.items():
            age = now - received
            share = share_left(age - self.timeout, self.fade_time) if age > self.timeout else 1.0
            if age >= 0.0 and share > 0.0:
                active[frame] = self.sign * share * value
        return active

    def rows(self, now: float) -> np.ndarray | None:
        """Return the same as the sum on each body, shape (bodies, 6); None where there is none."""
        active = self.active(now)
        if not active:
            return None
        self._rows[:] = 0.0
        for frame, value in active.items():
            place = self._tree.links[frame]
            numbers = value.tolist()
            force = Force(Vector(*numbers[:3]), Vector(*numbers[3:]))
            self._rows[place.body] += [*place.X_body_to_link.to_parent(force)]
        return self._rows

    def stale(self, now: float) -> tuple[str, ...]:
        """Return the frames whose newest wrench counts no longer, or not in full."""
        return tuple(
            frame for frame, (received, _) in self._newest.items()
            if not 0.0 <= now - received <= self.timeout)
