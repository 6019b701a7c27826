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
"""Times of the ROS clock, exact to the nanosecond."""

from __future__ import annotations

from functools import total_ordering
from typing import overload

NANOSECONDS = 1_000_000_000
"""Number of nanoseconds in a second."""


@total_ordering
class RosTime:
    """
    A time on the ROS clock, in whole nanoseconds as in the stamps of messages.

    The seconds since 1970 in a float are no finer than 0.24 us, in which a joint moves: subtract
    times of this type instead, which gives seconds that are exact.  (``rclpy.time.Time`` does this
    too, but this package does not import ROS.)

    :ivar nanoseconds: since the epoch of the clock.
    """

    __slots__ = ('nanoseconds',)

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds

    @classmethod
    def from_seconds(cls, seconds: float) -> RosTime:
        """Return the time that is nearest to seconds since the epoch of the clock."""
        return cls(round(NANOSECONDS * seconds))

    @property
    def seconds(self) -> float:
        """Return the seconds since the epoch of the clock, for people: a float is not exact."""
        return self.nanoseconds / NANOSECONDS

    def __add__(self, seconds: float) -> RosTime:
        return RosTime(self.nanoseconds + round(NANOSECONDS * seconds))

    @overload
    def __sub__(self, other: RosTime) -> float: ...

    @overload
    def __sub__(self, other: float) -> RosTime: ...

    def __sub__(self, other: RosTime | float) -> RosTime | float:
        """Return the seconds since another time, or the time that is seconds earlier."""
        if isinstance(other, RosTime):
            return (self.nanoseconds - other.nanoseconds) / NANOSECONDS  # nearest float
        return self + -other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RosTime) and self.nanoseconds == other.nanoseconds

    def __lt__(self, other: RosTime) -> bool:
        return self.nanoseconds < other.nanoseconds

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def __repr__(self) -> str:
        return f'RosTime({self.nanoseconds})'
