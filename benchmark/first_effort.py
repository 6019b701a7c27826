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
The time from a description to the first effort, in this fresh process; for ``startup``.

A description as JSON on the standard input; nanoseconds on the standard output.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
import json
import sys
import time

from benchmark.peers import PINOCCHIO
import numpy as np


def prepare(peer: str) -> Callable[[str, bool], object]:
    """Import a peer, which does not count; return what goes from text to an effort."""
    if peer == PINOCCHIO:
        import pinocchio as pin

        def with_pinocchio(text: str, floating_base: bool) -> object:
            model = (pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if floating_base
                     else pin.buildModelFromXML(text))
            zeros = np.zeros(model.nv)
            return pin.rnea(model, model.createData(), pin.neutral(model), zeros, zeros)
        return with_pinocchio

    from ros2_rnea import Robot
    try:
        import_module('llvmlite.binding')  # an import, too, wherever the package does it
    except ImportError:
        pass

    def with_ours(text: str, floating_base: bool) -> object:
        robot = Robot.from_urdf(text, floating_base=floating_base)
        zeros = np.zeros(robot.nv)
        return robot.inverse_dynamics(robot.neutral(), zeros, zeros)
    return with_ours


def main() -> None:
    """Print how long the peer named on the command line takes."""
    description = json.load(sys.stdin)
    first_effort = prepare(sys.argv[1])
    began = time.perf_counter_ns()
    first_effort(description['text'], description['floating_base'])
    elapsed = time.perf_counter_ns() - began
    sys.stdout.write(f'{elapsed}\n')


if __name__ == '__main__':
    main()
