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
"""
The disturbances, one file each; :data:`SCENES` has the order in which they are played.

Each is a function that plays on a :class:`~ros2_rnea.tools.demo.stage.Stage` and returns the
:class:`~ros2_rnea.tools.demo.figures.Episode`.
"""

from collections.abc import Callable

from ros2_rnea.tools.demo.figures import Episode
from ros2_rnea.tools.demo.scenes import crash, disable, payload, restart, stop, tilt
from ros2_rnea.tools.demo.stage import Stage

SCENES: dict[str, Callable[[Stage], Episode]] = {
    'payload': payload.play,
    'tilt': tilt.play,
    'restart': restart.play,
    'crash': crash.play,
    'stop': stop.play,
    'disable': disable.play,
}
"""The scenes by the names that the command line takes."""
