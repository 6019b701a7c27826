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
"""Reports of the node: one log line for each change, and /diagnostics."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from queue import SimpleQueue
from time import monotonic

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from ros2_rnea.control.decision import Decision, LimitFlags, State, Status
from ros2_rnea.errors import shortened
from ros2_rnea.node.models.model_building import Payload
from ros2_rnea.node.state_gaps import StateGaps
from ros2_rnea.node.topics.conversions import listed
from ros2_rnea.offline.audit import Finding

PERIOD = 1.0
LATENCY_WINDOW = 2000

MAX_LINES, LINES_PERIOD = 5, 10.0
"""Largest number of lines about one subject that are logged in a period, and that period [s]."""

START_UP = 10.0
"""Time after its start in which the node waits for other nodes without a warning [s]."""

AWAITING = (Status.WAITING, Status.NOT_ALLOWED)
"""Decisions that are normal while other nodes start."""

NO_ROBOT = 'none'
"""The name of the robot while there is none."""

MAX_FINDINGS = 50
"""Largest number of findings about a model that are listed; further ones are only counted."""

PERSISTENT = (
    'robot_description', 'other robot', 'model', 'parameters', 'joint_trajectory',
    'effort_controller', 'trajectory_controller', 'friction', 'effort limits', 'life cycle',
    'receivers', 'sources of joint states')
"""Subjects that change rarely: their notices stay until resolved, and each new text is logged."""

OF_ROBOT = ('robot', 'robot_description', 'model')
"""Subjects that are about one robot."""

LEVELS = {
    Status.DISABLED: DiagnosticStatus.WARN,
    Status.NOT_ALLOWED: DiagnosticStatus.WARN,
    Status.RELEASED: DiagnosticStatus.WARN,
    Status.WAITING: DiagnosticStatus.WARN,
    Status.STALE: DiagnosticStatus.STALE,
    Status.UNKNOWN_POSITION: DiagnosticStatus.ERROR,
    Status.UNKNOWN_START: DiagnosticStatus.ERROR,
    Status.UNKNOWN_VELOCITY: DiagnosticStatus.ERROR,
    Status.TWO_SOURCES: DiagnosticStatus.ERROR,
    Status.UNSTABLE_GAINS: DiagnosticStatus.ERROR,
    Status.NO_EFFORT_LIMIT: DiagnosticStatus.ERROR,
    Status.OVERLOADED: DiagnosticStatus.ERROR,
    Status.NOT_FINITE: DiagnosticStatus.ERROR,
    Status.NOT_COMPUTED: DiagnosticStatus.ERROR,
    Status.FAILED: DiagnosticStatus.ERROR,
    Status.SHUT_DOWN: DiagnosticStatus.WARN,
    Status.STOPPING: DiagnosticStatus.WARN,
    Status.STARTING: DiagnosticStatus.OK,
    Status.GRAVITY: DiagnosticStatus.OK,
    Status.IMU_LOST: DiagnosticStatus.WARN,
    Status.NO_TRAJECTORY: DiagnosticStatus.OK,
    Status.MOTION_TOO_FAR: DiagnosticStatus.WARN,
    Status.FOLLOWING: DiagnosticStatus.OK,
    Status.HOLDING_END: DiagnosticStatus.OK,
    Status.FOLLOWING_CONTROLLER: DiagnosticStatus.OK,
    Status.CONTROLLER_LOST: DiagnosticStatus.WARN,
    Status.PATH_DEVIATION: DiagnosticStatus.WARN,
    Status.GOAL_DEVIATION: DiagnosticStatus.WARN,
    Status.CONTACT: DiagnosticStatus.WARN,
    Status.TOO_FAR_OFF: DiagnosticStatus.ERROR,
    Status.SATURATED: DiagnosticStatus.ERROR,
    Status.TOO_FAST: DiagnosticStatus.ERROR,
}


def level_of(decision: Decision) -> bytes:
    """Return the level of a decision; a fault is never OK."""
    level = LEVELS[decision.status]
    is_fault = decision.state is State.FAULT and level == DiagnosticStatus.OK
    return DiagnosticStatus.ERROR if is_fault else level


class Diagnostics:
    """
    Stores the state of the node, logs each change once and publishes everything.

    A *notice* is a condition that holds or does not, such as "joint_states: refused": it is
    logged when it appears and when it has gone.  What may come and go with every message is
    logged at once the first time, and then no more than once a period.

    :ivar payloads: the payloads in use.
    :ivar compiling: how far the compilation of a model is; empty while there is none.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._decision = Decision(Status.WAITING)
        self._logged = Decision(Status.WAITING)
        self._logged_at = -PERIOD
        self._accepted: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._commands = 0
        self._rate_limited = 0
        self._notices: dict[str, str] = {}
        self._errors: set[str] = set()  # the subjects of notices that are errors
        self._awaited: set[str] = set()  # those of notices that something is waited for
        self._start_up_end: float | None = monotonic() + START_UP  # None: it is over
        self._lines: dict[str, deque[float]] = {}  # when something was logged about a subject
        self._omitted: Counter[str] = Counter()  # lines about it since then
        self._logged_once: set[str] = set()
        self._last_seen: dict[str, float] = {}
        self._reports: SimpleQueue[tuple[str, str]] = SimpleQueue()
        self._ages = _Window()
        self._cycles = _Window()
        self._gaps = StateGaps()
        self.robot = NO_ROBOT
        self.findings: Sequence[Finding] = ()
        self.payloads: Sequence[Payload] = ()
        self.compiling = ''
        node.create_timer(PERIOD, self._tick, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def waiting(self, about: str, text: str) -> None:
        """Report that something is waited for, which is worth a warning only after a while."""
        self._awaited.add(about)
        self._change(about, text)

    def notice(self, about: str, text: str, is_error: bool = False, resolution: str = '') -> None:
        """
        Report that a condition holds; an empty text reports that it is resolved.

        :param resolution: what is logged then; empty: that the known condition is resolved.
        :param is_error: whether the condition keeps the node from its task.
        """
        self._awaited.discard(about)
        self._change(about, text, is_error, resolution)

    def _change(
            self, about: str, text: str, is_error: bool = False, resolution: str = '') -> None:
        text = shortened(text)
        known = self._notices.pop(about, '')
        self._errors.discard(about)
        if text:
            self._notices[about] = text
            if is_error:
                self._errors.add(about)
        if bool(text) == bool(known) and (text == known or about not in PERSISTENT):
            return
        if not self._may_log(about):
            return
        if text:
            self._log_notice(about, text)
        else:
            self._node.get_logger().info(f"{about}: {resolution or f'resolved: {known}'}")
        self.publish()

    def _log_notice(self, about: str, text: str) -> None:
        if about in self._errors:
            self._node.get_logger().error(f'{about}: {text}')
        elif about in self._awaited and self._start_up_end is not None:
            self._node.get_logger().info(f'{about}: {text}')
        else:
            self._node.get_logger().warning(f'{about}: {text}')

    def _end_start_up(self) -> None:
        """Warn of everything that is still waited for."""
        self._start_up_end = None
        for about in sorted(self._awaited & self._notices.keys()):
            self._log_notice(about, self._notices[about])
        if self._decision.status in AWAITING and self.robot != NO_ROBOT:
            self._log()

    def _may_log(self, about: str) -> bool:
        """Return whether a line about a subject may be logged, since not too many were lately."""
        times, now = self._lines.setdefault(about, deque(maxlen=MAX_LINES)), monotonic()
        if len(times) == MAX_LINES and now - times[0] < LINES_PERIOD:
            self._omitted[about] += 1
            return False
        times.append(now)
        return True

    def _log_omitted(self) -> None:
        """Log how many lines were omitted, and what is true now, where there is room again."""
        for about, count in [*self._omitted.items()]:
            del self._omitted[about]
            if self._may_log(about):
                self._log_notice(about, f'{count} lines were omitted; the last state is: '
                                 f"{self._notices.get(about, 'resolved')}")
            else:
                self._omitted[about] = count

    @property
    def errors(self) -> dict[str, str]:
        """Return the conditions that keep the node from its task, by what they are about."""
        return {about: self._notices[about] for about in sorted(self._errors)}

    def text(self, about: str) -> str:
        """Return the text of a notice; empty where its condition does not hold."""
        return self._notices.get(about, '')

    def discard_robot(self) -> None:
        """Report nothing more about the robot that was in use, or that was refused."""
        self.robot, self.findings, self.payloads, self.compiling = NO_ROBOT, (), (), ''
        for about in OF_ROBOT:
            self._notices.pop(about, '')
            self._errors.discard(about)
        self.decided(Decision(Status.WAITING))

    def log_once(self, text: str, is_warning: bool = False) -> None:
        """Log a text, but never twice."""
        if text in self._logged_once:
            return
        self._logged_once.add(text)
        logger = self._node.get_logger()
        if is_warning:
            logger.warning(text)
        else:
            logger.info(text)

    def transient_notice(self, about: str, text: str) -> None:
        """Report a condition that a message may cause; it is resolved a period after the last."""
        self._last_seen[about] = monotonic()
        self.notice(about, text)

    def worker_exited(self, work: str, cause: str) -> None:
        """
        Report that a worker process has exited; any thread may call this.

        :param work: what the process does, as a verb: ``builds models``.
        """
        self._reports.put((
            'worker process',
            f'the process that {work} has exited unexpectedly and is restarted: {cause}'))

    def refused(
            self, topic: str, reason: Exception, about: str = '', is_error: bool = False) -> None:
        """
        Count a refused message and report the reason.

        :param about: the subject of the notice; empty: the topic.
        :param is_error: whether it is one, also where it does not keep the node from its task.
        """
        self._refused[topic] += 1
        about = about or topic
        if about in PERSISTENT:
            is_missing = about == 'robot_description' and self.robot == NO_ROBOT
            self.notice(about, f'refused: {reason}', is_error or is_missing)
        else:
            self.transient_notice(about, f'refused: {reason}')

    def accepted(self, topic: str) -> None:
        """Count an accepted message, and report no longer that an earlier one was refused."""
        self._accepted[topic] += 1
        if topic in PERSISTENT:
            self.notice(topic, '')

    def decided(self, decision: Decision) -> None:
        """Store a cycle's decision, and log it where its status differs from the last one."""
        self._decision = decision
        if decision.effort is not None:
            self._commands += 1
        if decision.limited is not None:
            self._limited(decision.limited)
        self._gaps.note(decision, self._logged, monotonic())
        if _differ(decision, self._logged) and monotonic() - self._logged_at >= PERIOD:
            self._log()

    def _limited(self, flags: LimitFlags) -> None:
        saturated = flags.names(flags.saturated)
        if saturated:
            self.transient_notice('effort', f'limited to the effort limit of {listed(saturated)}')
        rate_limited = flags.names(flags.rate_limited)
        if rate_limited:
            self._rate_limited += 1
            self.transient_notice(
                'effort rate', f'limited by effort_rate_limit at {listed(rate_limited)}')
        restrained = flags.names(flags.restrained)
        if restrained:
            self.transient_notice(
                'joint limits',
                f'at a position or velocity limit of {listed(restrained)}, the part of the effort '
                'that would push further is removed')

    def _log(self) -> None:
        decision, previous = self._decision, self._logged
        self._logged, self._logged_at = decision, monotonic()
        if self._gaps.is_known(decision, previous):
            self.publish()
            return
        level = level_of(decision)
        logger = self._node.get_logger()
        is_normal = decision.status in AWAITING and self._start_up_end is not None
        if level == DiagnosticStatus.OK or is_normal:
            logger.info(sentence(decision))
        elif level == DiagnosticStatus.WARN:
            logger.warning(sentence(decision))
        else:
            logger.error(sentence(decision))
        self.publish()

    def _tick(self) -> None:
        now = monotonic()
        while not self._reports.empty():
            self.transient_notice(*self._reports.get())
        for about in [a for a, seen in self._last_seen.items() if now - seen >= PERIOD]:
            del self._last_seen[about]
            self.notice(about, '')
        self._log_omitted()
        if self._start_up_end is not None and now > self._start_up_end:
            self._end_start_up()
        if self._gaps.becomes_long(now):
            self._log()
        gaps = self._gaps.report(now)
        if gaps:
            self._node.get_logger().warning(gaps)
        if _differ(self._decision, self._logged):
            self._log()
        else:
            self.publish()

    def timed(self, state_age: float | None, cycle: float) -> None:
        """Store the age of the joint state when its command was sent, and the cycle time [s]."""
        if state_age is not None:
            self._ages.add(state_age)
        self._cycles.add(cycle)

    def publish(self) -> None:
        """Publish everything in one message."""
        status = DiagnosticStatus(
            name=f'{self._node.get_fully_qualified_name()[1:]}: inverse dynamics',
            hardware_id=self.robot,
            level=self._level(),
            message='; '.join([
                sentence(self._decision), *self.errors.values(),
                *filter(None, [self.text('life cycle'), self.compiling])]))
        status.values = [KeyValue(key=key, value=value) for key, value in self._values()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _level(self) -> bytes:
        level = level_of(self._decision)
        if self._errors:
            return DiagnosticStatus.ERROR
        if level == DiagnosticStatus.OK and (self._notices or self.findings):
            return DiagnosticStatus.WARN
        return level

    def _values(self) -> list[tuple[str, str]]:
        values = [('robot', self.robot), ('state', self._decision.state.name.lower()),
                  ('reason', self._decision.status.name.lower())]
        if self.compiling:
            values.append(('compilation', self.compiling))
        share = self._rate_limited / max(self._commands, 1)
        values += [('commands', str(self._commands)),
                   ('commands limited in rate', f'{self._rate_limited} ({share:.2%})'),
                   ('gaps of joint states', f'{self._gaps.count}, the longest '
                                            f'{self._gaps.longest:.3f} s beyond state_timeout')]
        for topic in sorted(self._accepted.keys() | self._refused.keys()):
            counts = f'accepted {self._accepted[topic]}, refused {self._refused[topic]}'
            values.append((f'messages on {topic}', counts))
        values += self._ages.figures('latency, state stamp to command')
        values += self._cycles.figures('cycle')
        values += sorted(self._notices.items())
        values += [(f'payload {name}', f'{inertial.mass:g} kg on {link}')
                   for name, link, inertial in self.payloads]
        values += [
            (f'model finding {i}', shortened(str(finding)))
            for i, finding in enumerate(self.findings[:MAX_FINDINGS], start=1)]
        if len(self.findings) > MAX_FINDINGS:
            values.append(('further model findings', str(len(self.findings) - MAX_FINDINGS)))
        return values


def sentence(decision: Decision) -> str:
    """Return a decision in words."""
    about = f' ({listed(decision.joints)})' if decision.joints else ''
    return decision.status.value + about + (f'; {decision.detail}' if decision.detail else '')


def _differ(one: Decision, other: Decision) -> bool:
    return one.status is not other.status or one.joints != other.joints


class _Window:
    """The latest values of a time [s], and their distribution."""

    def __init__(self) -> None:
        self._times = [0.0] * LATENCY_WINDOW  # for single items, a list is faster than an array
        self._count = 0

    def add(self, time: float) -> None:
        self._times[self._count % LATENCY_WINDOW] = time
        self._count += 1

    def figures(self, name: str) -> list[tuple[str, str]]:
        """Return the statistics as text; each percentile is one of the values."""
        if not self._count:
            return []
        times = 1e3 * np.sort(np.array(self._times[:self._count]))
        half, most = times[(len(times) - 1) // 2], times[99 * (len(times) - 1) // 100]
        return [(f'{name} [ms]',
                 f'median {half:.3f}, 99th percentile {most:.3f}, worst {times[-1]:.3f}')]
