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
"""The real node as a process, and a peer that sends hostile messages and judges the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from math import inf, isfinite
import os
from pathlib import Path
import signal
import subprocess
import sys
from time import monotonic, time
from types import TracebackType
from typing import Any

from default_signals import default_signals
from diagnostic_msgs.msg import DiagnosticArray
from fuzz.gaps import Gaps, Pulse
from fuzz.hostile import Honest, honest_message, Hostile, Input
from fuzz.messages import message_type
from fuzz.record import Record
from lifecycle_msgs.msg import State, Transition
import numpy as np
from patience import PATIENCE
from rcl_interfaces.msg import Parameter, ParameterType
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rclpy.task import Future
from ros2_rnea import Robot
from ros2_rnea.robots.arguments import STANDARD_GRAVITY
from ros2_rnea.tools.models import ur5
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, Joy
from std_msgs.msg import Float64MultiArray, Header, String

NODE = 'inverse_dynamics'

AGREEMENT = 1e-9
"""Largest difference between an effort and the library's [Nm]."""

RIGHT_ANSWERS = 3
"""So many right efforts in succession end the judgement of a batch."""

LONGEST_LINE = 4000
"""Longest line that the node may log [bytes]."""

DISCOVERY = 1.0
"""Inputs of the node that are not discovered within this time after others do not exist [s]."""

OF_RCL = b'] [rcl]: '
"""In lines that rcl logs itself."""

OF_CLOCK = b'unexpected error in TimeSource.clock_callback'
"""In the line about a negative time on /clock, which rclpy cannot represent."""

LOG_OF_A_BATCH = 60_000
LOG_PER_SECOND = 20_000
"""What the node may log: in one batch, and more for each second that it takes [bytes]."""

LARGEST_GROWTH = 256 * 2 ** 20
"""
By how much the memory of the node may grow after :data:`WARM_UP` batches [bytes].

For each entry of each queue, DDS keeps a buffer as large as the largest message that has come.
"""

WARM_UP = 10

LARGEST_EFFORT = 1e6
"""No effort that is sent is larger, whatever limits a parameter or a description sets [Nm]."""

LATENESS = 0.01
"""
A command may be published this long after the cycle that has limited its rate [s].

So may it be while the node's threads wait for a processor.
"""

CHANGES = ('robot_description', 'set_parameters', 'set_parameters_atomically', 'enable',
           'set_gravity', 'set_payload', 'clock')
"""Inputs that may change limits; while they are attacked, only finite efforts are demanded."""

MAY_STOP = (*CHANGES, 'change_state', 'compensated_joints', 'joy')
"""Inputs that may end the efforts rightly: a gap after them is recorded, and no fault."""

LARGE_REQUESTS = 1_000_000
"""
Requests of this size together [bytes] may stop the efforts for longer.

rclpy turns them into Python objects before the node receives them: docs/node/bounds.rst.
"""

REMEMBERED = 5.0
"""For so long a busy node may still act on ``compensated_joints`` of a publisher that left [s]."""

STATE_TIMEOUT = 0.1
"""The parameter's default [s]."""

LONGEST_GAP = STATE_TIMEOUT + 0.05
"""Longest time between efforts while states arrive, but for what the machine explains [s]."""

NEEDED = {'joint_states', 'joint_trajectory', 'robot_description', 'list_parameters',
          'get_parameters', 'set_parameters_atomically', 'set_payload'}
"""Inputs through which the peer restores what it has attacked."""

TOWARDS_ACTIVE = {
    State.PRIMARY_STATE_UNCONFIGURED: Transition.TRANSITION_CONFIGURE,
    State.PRIMARY_STATE_INACTIVE: Transition.TRANSITION_ACTIVATE}
"""The next transition by the state of a managed node."""


class Broken(AssertionError):
    """The node does not keep what it promises."""


LISTENER = 'recorder'
"""The name of all nodes that listen to the commands for a while."""

_numbers = count(1)


class Listener:
    """
    A process of its own that receives the commands, as far as the middleware can tell.

    :param namespace: of the node that sends them.
    """

    def __init__(self, namespace: str) -> None:
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = Node(LISTENER, namespace=namespace, context=self._context,
                          start_parameter_services=False, enable_rosout=False)
        self._node.create_subscription(
            Float64MultiArray, f'{NODE}/commands', lambda _: None, 1)

    def end(self) -> None:
        """Let it go."""
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)


class Target:
    """
    The node's executable, a robot and a peer, over real DDS, as a context.

    :param folder: where the node's log goes.
    :param parameters: of the node.
    :param omitted: last parts of the names of inputs that are not attacked.
    :param awaited: those of inputs that it has with these parameters only.
    :param program: the module of the executable.
    :param engine: of its kernels; empty: the one that is best on this machine.
    :param end: the signal that ends it.
    :param record: what is counted.
    :ivar is_finalized: whether a managed node has been shut down, after which it serves no more.
    """

    def __init__(
            self, folder: Path, parameters: Mapping[str, str], omitted: Sequence[str] = (),
            awaited: Sequence[str] = (), program: str = 'inverse_dynamics_node',
            engine: str = 'textbook', end: signal.Signals = signal.SIGINT,
            record: Record | None = None) -> None:
        model = ur5()
        # A node that was killed stays in the graph for a while, under its own namespace.
        self._namespace = f'/fuzz_{next(_numbers)}'
        self._robot = Robot.from_urdf(model.urdf)
        self._positions = np.array(model.start)
        self._joints = [body.joint for body in self._robot.tree.bodies]
        limits = [body.limits for body in self._robot.tree.bodies]
        self._limits = np.array([limit.effort for limit in limits])
        self._rates = np.maximum(
            np.minimum(1000.0, self._limits / 0.05), self._limits / 0.15)
        if parameters.get('position_loop') == 'none':  # gravity and damping have no rate limit
            self._rates = np.full_like(self._limits, inf)
        self._right = self._robot.gravity(self._positions)
        self._links = [body.link for body in self._robot.tree.bodies]
        self._urdf = model.urdf
        self._parameters = parameters
        self._omitted = omitted
        self._program = program
        self._engine = engine
        self._end = end
        self._record = record or Record()
        self._listeners: list[Listener] = []
        self._gaps = Gaps()
        self._pulse: Pulse | None = None
        self._excuses: set[str] = set()
        self._remembered_until = -inf
        self.is_finalized = False
        self._awaited = {*awaited, 'fill_trajectory_efforts', 'compute_mass_matrix'}
        self._log = folder / 'node.log'
        self._read = 0
        self._batches = 0
        self._grown_from = 0
        self._fault = ''
        self._is_changed = False
        self._right_in_succession = 0
        self._last: tuple[float, np.ndarray] | None = None
        self._status = ''
        self._inputs: dict[str, Input] = {}
        self._inputs_since = inf
        self._senders: dict[str, Any] = {}

    # ---- life ---------------------------------------------------------------------------------

    def __enter__(self) -> Target:
        """Start the node and wait until it answers with the right effort."""
        given = {'joints': f'[{", ".join(self._joints)}]', 'start_from': 'zero',
                 'position_loop': 'present',
                 **self._parameters}
        with self._log.open('wb') as file:
            self._process = subprocess.Popen(
                [sys.executable, '-m', f'ros2_rnea.node.{self._program}', '--ros-args',
                 '-r', f'__ns:={self._namespace}',
                 *(word for name, value in given.items() for word in ('-p', f'{name}:={value}'))],
                stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=default_signals,
                env={**os.environ, 'ROS2_RNEA_ENGINE': self._engine})
        self._peer = Node('fuzzer', namespace=self._namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._peer)
        self._peer.create_subscription(
            Float64MultiArray, f'{NODE}/commands', self._on_command, 1000)
        self._peer.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        try:
            self._come_up()
        except BaseException:
            self._close()
            raise
        return self

    def _come_up(self) -> None:
        self._until(self._is_discovered, 'the node is discovered')
        self._honest = Honest(self._urdf, self._joints, self._positions, self._links, {})
        self._all_parameters = self._ask_parameters()
        self._honest = self._honest._replace(parameters=self._all_parameters)
        self._describe()
        self._until(self._has_all_inputs, f'{sorted(self._awaited)} are inputs of the node')
        self._until(self._activate, 'the node is active')
        self._judge()
        self._gaps = Gaps()
        self._pulse = Pulse(self._gaps, self._send_state, self._process.pid)
        self._pulse.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """End the node: by a signal, cleanly, unless it has been found broken."""
        if error is None:
            self._record.ends[self._end.name] += 1
            self._process.send_signal(self._end)
            try:
                code = self._process.wait(PATIENCE)
            finally:
                self._close()
            if code != 0:
                raise Broken(f'the node ended with exit code {code}:\n{self._last_lines()}')
        else:
            self._close()

    def _close(self) -> None:
        if self._pulse is not None:
            self._pulse.end()
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for each in self._listeners:
            each.end()
        self._executor.shutdown()
        self._peer.destroy_node()

    # ---- what can be attacked ------------------------------------------------------------------

    @property
    def honest(self) -> Honest:
        """Return what is right for the robot."""
        return self._honest

    def inputs(self) -> list[Input]:
        """Return all topics that the node subscribes to, and all services that it offers."""
        return [each for each in self._inputs.values() if each.base not in self._omitted]

    def _all_inputs(self) -> list[Input]:
        topics = self._peer.get_subscriber_names_and_types_by_node(NODE, self._namespace)
        own = f'{self._namespace}/{NODE}/'  # also of its hidden nodes
        services = [each for each in self._peer.get_service_names_and_types()
                    if each[0].startswith(own)]
        found = [Input(name, message_type(kinds[0])) for name, kinds in (*topics, *services)]
        return sorted(found, key=lambda each: each.name)

    # ---- a batch ------------------------------------------------------------------------------

    def withstand(self, batch: Sequence[Hostile]) -> None:
        """
        Send hostile messages, make good what they may rightly have changed, and judge.

        :raises Broken: where the node does not answer an honest state as it should.
        """
        sizes = [len(each.content if isinstance(each.content, bytes)
                     else serialize_message(each.content)) for each in batch]
        self._is_changed = any(each.to.base in CHANGES for each in batch)
        self._excuses = {each.to.base for each in batch if each.to.base in MAY_STOP}
        if monotonic() < self._remembered_until:
            self._excuses.add('compensated_joints')
        if not self._excuses and LARGE_REQUESTS < sum(
                each.times * size for each, size in zip(batch, sizes) if each.to.is_service):
            self._excuses = {'large requests'}
        self._record.judged += not self._excuses
        self._let_listeners_change()
        answers = {}
        for each, size in zip(batch, sizes):
            self._gaps.hostile(time(), f'{each.times} x {each.to.base}, {size} bytes')
            answers[each.to.base] = self._send(each)
            self._spin(0.0)
        for base, answer in answers.items():
            if answer is not None:  # also to those before it, which the queue may have lost
                self._until(answer.done, f'{base} answers')
        self._make_good(batch)
        if self.is_finalized:  # it has to end at SIGINT, as any other
            self._judge_life()
        else:
            self._judge()

    def _let_listeners_change(self) -> None:
        """Let one more or one less receive the commands, of up to two that have equal names."""
        if self._batches % 4 < 2:
            self._listeners.append(Listener(self._namespace))
            self._record.listeners += 1
        elif self._listeners:
            self._listeners.pop(0).end()

    def _send(self, hostile: Hostile) -> Future | None:
        """Send something as often as it says; return the future answer to the last request."""
        to = self._inputs[hostile.to.base]
        sender, answer = self._sender(to), None
        for _ in range(hostile.times):
            if to.is_service:
                answer = sender.call_async(hostile.content)
            elif isinstance(hostile.content, bytes):
                with suppress(RuntimeError):  # of rcl: longer than any message of that type
                    sender.publish(hostile.content)
            else:
                sender.publish(hostile.content)
        return answer

    def _sender(self, to: Input) -> Any:
        """Return a publisher or client that is matched with the node."""
        if to.name not in self._senders:
            if to.is_service:
                client = self._peer.create_client(to.interface, to.name)
                self._until(client.service_is_ready, f'{to.name} is ready')
                self._senders[to.name] = client
            else:
                info, = (each for each in self._peer.get_subscriptions_info_by_topic(to.name)
                         if each.node_name == NODE)
                publisher = self._peer.create_publisher(to.kind, to.name, QoSProfile(
                    depth=100, durability=info.qos_profile.durability))
                self._senders[to.name] = publisher
                self._until(publisher.get_subscription_count, f'{to.name} is matched')
        return self._senders[to.name]

    def _make_good(self, batch: Sequence[Hostile]) -> None:
        """Undo what a hostile message may rightly have changed."""
        bases = {each.to.base for each in batch}
        for name in {each.content.name for each in batch if each.to.base == 'set_payload'}:
            self._call('set_payload', name=name, remove=True)
        if bases & {'robot_description', 'set_parameters', 'set_parameters_atomically'}:
            self._describe()
        if bases & {'set_parameters', 'set_parameters_atomically', 'enable', 'set_gravity'}:
            self._until(self._restore_parameters, 'the parameters are what they were')
        if 'change_state' in bases:
            self._until(self._activate, 'the node is active')
        if 'controller_state' in bases:  # its last reference counts for ever
            to = self._inputs['controller_state']
            self._send(Hostile(to, honest_message(to, self._honest)))
        if 'compensated_joints' in bases:  # what was said counts while its publisher is there
            self._peer.destroy_publisher(self._senders.pop(
                self._inputs['compensated_joints'].name))
            self._remembered_until = monotonic() + REMEMBERED
        if 'joint_trajectory' in bases:
            self._send(Hostile(self._inputs['joint_trajectory'], self._honest.trajectory()))

    def _activate(self) -> bool:
        """Make the next transition that a managed node needs, and return whether none was left."""
        if 'change_state' not in self._inputs:
            return True
        self._publish_state()
        state = self._call('get_state').current_state.id
        self.is_finalized = state == State.PRIMARY_STATE_FINALIZED
        if state in TOWARDS_ACTIVE:
            self._call('change_state', transition=Transition(id=TOWARDS_ACTIVE[state]))
        return self.is_finalized or state == State.PRIMARY_STATE_ACTIVE

    def _restore_parameters(self) -> bool:
        """Set the parameters that differ, and return whether none did."""
        now = self._ask_parameters()
        changed = [name for name, value in self._all_parameters.items() if now[name] != value]
        if changed:
            self._judge_life()
            if 'joints' in changed:  # they do not change while efforts are sent
                self._call('enable', data=False)
            self._call('set_parameters_atomically', parameters=[
                Parameter(name=name, value=self._all_parameters[name]) for name in changed])
            self._publish_state()
        return not changed

    def _judge(self) -> None:
        """Publish honest states until they are answered rightly."""
        started = monotonic()
        self._right_in_succession = 0

        def is_right() -> bool:
            self._publish_state()
            self._judge_life()
            return self._right_in_succession >= RIGHT_ANSWERS

        self._until(is_right, 'an honest state is answered with the right effort')
        self._judge_gaps()
        self._judge_log(monotonic() - started)
        self._batches += 1
        self._judge_memory()

    # ---- what the node promises ----------------------------------------------------------------

    def _judge_life(self) -> None:
        if self._process.poll() is not None:
            raise Broken(
                f'the node ended with exit code {self._process.returncode}:\n{self._last_lines()}')
        if self._fault:
            fault, self._fault = self._fault, ''
            raise Broken(fault)

    def _judge_gaps(self) -> None:
        """Judge how long no effort came while states arrived, and take note of it."""
        for gap in self._gaps.found():
            self._record.note(gap, self._excuses)
            if gap.own > LONGEST_GAP and not self._excuses:
                raise Broken(
                    f'no effort came for {gap.whole:.3f} s, of which the machine explains '
                    f'{gap.whole - gap.own:.3f} s, after {gap.after}: {self._last_lines()}')

    def _judge_log(self, seconds: float) -> None:
        """Judge what has been logged since the last time, but for what rcl logs by itself."""
        with self._log.open('rb') as file:
            file.seek(self._read)
            text = file.read()
        self._read += len(text)
        self._record.logged += len(text)
        lines = [line for line in text.splitlines() if OF_RCL not in line]
        size = sum(map(len, lines))
        if size > LOG_OF_A_BATCH + LOG_PER_SECOND * seconds:
            raise Broken(f'{size} bytes were logged in one batch: {self._last_lines()[:2000]}')
        for line in lines:
            if len(line) > LONGEST_LINE:
                raise Broken(f'a line of {len(line)} bytes was logged: {line[:300]!r}')
            if b'Traceback' in line and OF_CLOCK not in line:
                raise Broken(f'an exception escaped:\n{self._last_lines()}')

    def _judge_memory(self) -> None:
        if self._batches == WARM_UP:
            self._grown_from = self.memory()
        elif self._batches > WARM_UP:
            memory = self.memory()
            self._record.growth = max(self._record.growth, memory - self._grown_from)
            if memory > self._grown_from + LARGEST_GROWTH:
                raise Broken(f'the memory of the node has grown from {self._grown_from >> 20} to '
                             f'{memory >> 20} MiB in {self._batches - WARM_UP} batches')

    def memory(self) -> int:
        """Return how much memory the node has resident [bytes]."""
        pages = Path(f'/proc/{self._process.pid}/statm').read_text().split()[1]
        return int(pages) * os.sysconf('SC_PAGE_SIZE')

    def _on_command(self, message: Float64MultiArray, info: Any) -> None:
        """Judge a command."""
        effort = np.array(message.data)
        if not all(map(isfinite, effort)) or (np.abs(effort) > LARGEST_EFFORT).any():
            self._fault = f'an effort of {effort.tolist()} was sent'
        last, self._last = self._last, (1e-9 * info['source_timestamp'], effort)
        self._gaps.effort(self._last[0])
        if len(effort) != len(self._limits):
            self._right_in_succession = 0
            return
        if not self._is_changed:
            self._judge_effort(effort, last)
        is_right = bool((np.abs(effort - self._right) <= AGREEMENT).all())
        self._right_in_succession = self._right_in_succession + 1 if is_right else 0

    def _judge_effort(self, effort: np.ndarray, last: tuple[float, np.ndarray] | None) -> None:
        if (np.abs(effort) > self._limits + AGREEMENT).any():
            self._fault = (
                f'an effort of {effort.tolist()} was sent; the limits are {self._limits.tolist()}')
        if last is None or len(last[1]) != len(effort):
            return
        elapsed = (self._last or last)[0] - last[0]
        step = np.abs(effort - last[1]) - AGREEMENT

        def is_too_large(lateness: float) -> bool:
            return bool((step > (elapsed + lateness) * self._rates).any())

        if is_too_large(LATENESS) and is_too_large(
                LATENESS + self._gaps.waited_since(last[0] - STATE_TIMEOUT)):
            self._fault = (f'the effort went from {last[1].tolist()} to {effort.tolist()} in '
                           f'{elapsed:.3f} s')

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self._status = message.status[0].message

    # ---- means --------------------------------------------------------------------------------

    def _publish_state(self) -> None:
        """Publish the honest state, unless that happens anyway, and spin."""
        if self._pulse is None:
            self._send_state()
        self._spin(0.005)

    def _send_state(self) -> None:
        """Send the honest state, and what else the node may need to send efforts."""
        now = self._peer.get_clock().now().to_msg()
        gravity = Imu(header=Header(stamp=now, frame_id=self._robot.tree.root))
        gravity.linear_acceleration.z = -STANDARD_GRAVITY[2]
        state = self._honest.state()
        state.header.stamp = now
        for base, message in (('clock', Clock(clock=now)), ('imu', gravity),
                              ('joy', Joy(buttons=[1])), ('joint_states', state)):
            if base in self._inputs:
                self._sender(self._inputs[base]).publish(message)

    def _describe(self) -> None:
        """Publish the right description, by the publisher of the hostile ones: it comes last."""
        self._sender(self._inputs['robot_description']).publish(String(data=self._urdf))

    def _ask_parameters(self) -> dict[str, Any]:
        """Return the values of all parameters of the node that have one."""
        names = self._call('list_parameters').result.names
        values = self._call('get_parameters', names=names).values
        return {name: value for name, value in zip(names, values)
                if value.type != ParameterType.PARAMETER_NOT_SET}

    def _call(self, service: str, **fields: Any) -> Any:
        to = self._inputs[service]
        future = self._sender(to).call_async(to.kind(**fields))
        self._until(future.done, f'{service} answers')
        return future.result()

    def _is_discovered(self) -> bool:
        """Return whether everything of the node is known that the peer needs."""
        if (NODE, self._namespace) not in self._peer.get_node_names_and_namespaces():
            return False
        self._discover()
        return NEEDED <= self._inputs.keys() and bool(
            self._peer.count_publishers(f'{NODE}/commands'))

    def _discover(self) -> None:
        inputs = {each.base: each for each in self._all_inputs()}
        if inputs != self._inputs:
            self._inputs, self._inputs_since = inputs, monotonic()

    def _has_all_inputs(self) -> bool:
        """Return whether all inputs are discovered: a seed has to draw the same again."""
        self._discover()
        return (self._awaited <= self._inputs.keys()
                and monotonic() - self._inputs_since > DISCOVERY)

    def _spin(self, seconds: float) -> None:
        self._executor.spin_once(timeout_sec=seconds)

    def _until(self, condition: Callable[[], object], promise: str) -> None:
        deadline = monotonic() + PATIENCE
        while not condition():
            if self._process.poll() is not None:
                self._judge_life()
            if monotonic() > deadline:
                raise Broken(f'within {PATIENCE:.0f} s it was not so that {promise}; the last '
                             f'effort is {self._last}, right is {self._right.tolist()}; '
                             f'{self._status}:\n{self._last_lines()}')
            self._spin(0.01)

    def _last_lines(self) -> str:
        with self._log.open('rb') as file:
            file.seek(max(0, self._log.stat().st_size - 5000))
            return file.read().decode(errors='replace')
