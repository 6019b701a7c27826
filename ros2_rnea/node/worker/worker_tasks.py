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
"""The tasks of a worker process: it builds models and fills trajectories."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
import os
import pickle
import signal
import sys
from typing import Any

from ros2_rnea import errors
from ros2_rnea.errors import ArgumentError, RneaError
from ros2_rnea.export.model import model_of, OF_CONTROLLER, quantities_of, traces_of
from ros2_rnea.export.model_file import checksum_of, encoded
from ros2_rnea.kernels.compiled import cache, what_is_not_used
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.model.tree import Tree
from ros2_rnea.node.models.model_building import adjustable, read_description, Source
from ros2_rnea.node.worker.channel import channel_of, Message, PROGRESS, VERSION
from ros2_rnea.offline.audit import Finding
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot

Report = Callable[[Any], None]

NICENESS = 10
"""Number that is added to the nice value of this process: others run first."""

OUT_OF_MEMORY_SCORE = 500
"""
Number that is added to the score of this process for the case that memory runs out.

Linux then ends the process with the highest score: this one.
"""


OTHER_VERSION = {'error': 'RneaError', 'text': (
    'the package ros2_rnea has changed on disk since this node was started, and its worker '
    'process was started again after that: restart the node')}
"""The refusal by a process that runs other code than the node."""


def serve(descriptor: int, version: str) -> None:
    """
    Answer requests until the node closes its end of the connection.

    Where the node runs other code than this process, every request is refused: the same words
    could have another meaning in it, and machine code another order of its arguments.

    :param descriptor: of this process's end of the connection.
    :param version: that of the node's code.
    """
    for of_terminal in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # meant for the node
        signal.signal(of_terminal, signal.SIG_IGN)
    lower_priority()
    channel = channel_of(descriptor)
    with suppress(EOFError, OSError):
        while True:
            if version != VERSION:
                channel.receive_bytes()
                channel.send(OTHER_VERSION)
                continue
            channel.send(answer(
                channel.receive(), lambda report: channel.send({PROGRESS: report})))


def lower_priority() -> None:
    """Leave processor and memory to processes with deadlines."""
    os.nice(NICENESS)
    if os.sched_getscheduler(0) != os.SCHED_OTHER:  # inherited from a real-time node
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with suppress(OSError), open('/proc/self/oom_score_adj', 'w', encoding='ascii') as file:
        file.write(str(OUT_OF_MEMORY_SCORE))


def answer(request: Message, report: Report = lambda _: None) -> Message:
    """
    Return the answer to a request, or the error that occurred.

    :param report: called with the progress of a task that takes long.
    """
    try:
        return TASKS[request['task']](request, report)
    except RneaError as error:
        kind = type(error).__name__ if hasattr(errors, type(error).__name__) else 'RneaError'
        return {'error': kind, 'text': str(error)}
    except Exception as error:  # noqa: BLE001 (no defect may leave the node without a worker)
        sys.excepthook(*sys.exc_info())
        return {'error': 'RneaError', 'text': f'{type(error).__name__}: {error}'}


# ---- the tasks ------------------------------------------------------------------------------


def make_model(request: Message, report: Report) -> Message:
    """
    Parse a description, audit it and compile its kernels, each of which is reported.

    The tree in the answer is pickled separately: equal trees are recognized without reading them.
    """
    source = request['source']
    tree, findings = _read_description(
        source._replace(payload_links=(), optional_parameters=(), observes=False))
    robot = adjustable(tree, source, request['engine'])
    code = robot.machine_code(*source.kernels, on_compile=lambda kernel: report([*kernel]))
    return {'tree': pickle.dumps(tree), 'findings': findings, 'machine_code': code,
            'about_kernels': what_is_not_used(cache())}


def fill(request: Message, _: Report) -> Message:
    """Fill a trajectory with efforts.  Only this task needs ROS."""
    from ros2_rnea.node.services.fill_answer import answer_bytes

    return {'response': answer_bytes(
        request['request'], _robot(request['robot']), request['context'])}


def query(request: Message, _: Report) -> Message:
    """
    Call a method of a robot.

    The robot computes as the textbook does: a single call takes milliseconds, which is less than
    a compilation.
    """
    robot, name = _textbook_robot(request['robot']), request['method']
    if name not in QUERIES:
        raise ArgumentError(f'the method is {name!r}; it needs to be one of {", ".join(QUERIES)}')
    return {'result': getattr(robot, name)(**request['arguments'])}


def export(request: Message, _: Report) -> Message:
    """Make the model file of a robot; its tapes are traces, for which nothing is compiled."""
    robot = _robot(request['robot'])
    traces = traces_of(robot, quantities_of(robot, OF_CONTROLLER, ()))
    model = model_of(
        robot, request['description'], traces, request['left_out'], request['arm_gravity'])
    file = encoded(model)
    return {'file': file, 'checksum': checksum_of(file),
            'joints': [joint.name for joint in model.joints]}


TASKS: dict[str, Callable[[Message, Report], Message]] = {
    'model': make_model, 'fill': fill, 'query': query, 'export': export}

QUERIES = ('mass_matrix', 'jacobian', 'forward_dynamics_with_locked_joints', 'inverse_dynamics')
"""The methods that the task ``query`` calls."""


@lru_cache(maxsize=2)
def _read_description(source: Source) -> tuple[Tree, tuple[Finding, ...]]:
    """Call :func:`read_description`; cached for requests with other payloads or friction."""
    return read_description(source)


@lru_cache(maxsize=1)
def _robot(snapshot: bytes) -> Robot:
    """Return the robot in use; it is cached, and its kernels are compiled only once."""
    return AdjustableRobot(*pickle.loads(snapshot))


@lru_cache(maxsize=1)
def _textbook_robot(snapshot: bytes) -> Robot:
    """Return the robot in use, without kernels."""
    tree, payloads, gravity, *_ = pickle.loads(snapshot)
    return Robot(tree, payloads, gravity, Engine.TEXTBOOK)
