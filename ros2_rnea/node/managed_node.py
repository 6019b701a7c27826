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
"""The node as a managed node, whose life cycle another program controls."""

from __future__ import annotations

from collections.abc import Callable
from traceback import format_exc
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from ros2_rnea.control.decision import Instant
from ros2_rnea.errors import ArgumentError, RneaError, shortened
from ros2_rnea.node import parameters
from ros2_rnea.node.diagnostics import LEVELS, sentence
from ros2_rnea.node.inverse_dynamics_node import InverseDynamicsNode, run
from ros2_rnea.node.models.other_robots import OTHER_ROBOT
from std_msgs.msg import String
from std_srvs.srv import SetBool

SUBJECT = 'life cycle'
"""Subject of the notices about the state of the life cycle in /diagnostics."""

LONGEST_LABEL = 64
"""Largest length of the label of a transition [characters]; no real label is longer."""


class ManagedInverseDynamicsNode(LifecycleNodeMixin, InverseDynamicsNode):
    """
    The plain node, with the states of https://design.ros2.org/articles/node_lifecycle.html.

    An unconfigured node has no robot.  An inactive node has one and answers services, but sends
    no effort.  A transition that leaves the active state brakes the arm and leads the effort to
    that of ``on_stop`` before it returns.
    """

    def __init__(self, **arguments: Any) -> None:
        self._is_finalized = False
        self._description: String | None = None  # the last one that was received
        self._offered: dict[str, Any] = {}  # values of parameters; another callback may refuse
        InverseDynamicsNode.__init__(self, **arguments)
        self._report_state()

    def prepare(self) -> None:
        """
        Begin with the first transition, in which invalid parameters are refused, too.

        :raises ArgumentError: where a parameter that can only be set at the start is invalid.
        """
        parameters.check_fixed(self, self._refused_values)
        self._configuration.is_active = False
        self.add_on_set_parameters_callback(self._on_parameters_to_set)
        LifecycleNodeMixin.__init__(self)
        service = self._service_change_state
        service.callback = self._refusing_impossible(service.callback)
        self.guard_services()

    def configure_process(self) -> None:
        """Lock memory and set the priority, once the parameters are known to be valid."""
        if self._configuration.has_begun:
            super().configure_process()

    # ---- transitions ----------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Use the parameters, and begin to load the robot; the executor does not wait for it."""
        return self._result_of('configure', self._load, refusals=RneaError)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Allow efforts; refused where it is known that none could be sent."""
        return self._result_of('activate', self._start_sending, refusals=RneaError)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Brake the arm, then send nothing."""
        return self._result_of('deactivate', self._stop_sending)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Drop the robot and its payloads."""
        return self._result_of('clean up', self._unload)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Brake the arm where an effort is sent, then drop the robot."""
        return self._result_of('shut down', self.send_last, self._unload, self._finalize)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Brake the arm where that is possible, then drop the robot."""
        self._result_of('brake', self.send_last)
        return self._result_of('clean up', self._unload)

    def _result_of(
            self, name: str, *steps: Callable[[], None],
            refusals: type[Exception] | tuple[()] = ()) -> TransitionCallbackReturn:
        """
        Take the steps of a transition, and log why it does not succeed, since rclpy does not.

        :param refusals: errors after which the node stays in the state before; any other one is
            a defect, after which the node becomes unconfigured.
        """
        try:
            for step in steps:
                step()
        except refusals as error:
            self.get_logger().error(shortened(f'{name}: refused: {error}'))
            return TransitionCallbackReturn.FAILURE
        except Exception:  # noqa: BLE001 (no defect may end the node in a transition)
            self.get_logger().error(f'{name}: failed: {format_exc()}')
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    def _load(self) -> None:
        self._refused_values = {
            name: error for name, error in self._refused_values.items() if not self._has_set(name)}
        self.begin()
        is_set = self._has_set('robot_description') and self._offered['robot_description']
        if self._description is not None and not is_set:
            super()._on_description(self._description)
            self._receive_descriptions()  # also those that came before the last one
        self.configure_process()
        self._report_state()

    def _unload(self) -> None:
        self._configuration.is_active = False
        self._configuration.close()
        self._model_publisher.withdraw()
        self._cycle_timers.final_fade(False)
        self._diagnostics.discard_robot()
        self._report_state()

    def _finalize(self) -> None:
        self._is_finalized = True
        self._report_state()

    def _start_sending(self) -> None:
        """
        Allow efforts, and run the first cycle.

        :raises RneaError: where something has to be changed before efforts can be sent.  If
            something has merely not arrived yet, such as the robot description, the node waits.
        """
        reasons = self._diagnostics.errors
        reasons.pop('clock', None)  # a time on /clock is waited for
        models = self._configuration
        if models.is_withholding:
            if not models.is_undecided:  # the robot in use is the right one
                reasons.pop(OTHER_ROBOT, None)
                reasons.pop('robot_description', None)
        elif models.unused_description:
            # Also where an older robot is in use: it is known to be the wrong one.
            reasons['robot_description'] = models.unused_description
        latch = None if self.policy is None else self.policy.memory.supervisor.latch
        if latch is not None:
            reasons['fault'] = f'{latch.status.value}: call ~/enable with true first'
        if reasons:
            raise ArgumentError('; '.join(f'{about}: {text}' for about, text in reasons.items()))
        self._configuration.discard_superseded()
        try:
            self._run_first_cycle()
        except RneaError:
            self._set_active(False)
            raise

    def _run_first_cycle(self) -> None:
        misfit = self._set_active(True)
        if misfit:
            raise ArgumentError(f'the parameters do not fit the robot in use: {misfit}')
        self._has_failed = False
        if self.policy is None:
            return
        self.policy.motion.clear()  # the arm may be elsewhere since
        decision = self._decide_and_send(self.policy, self._clocks.now())
        if decision is not None and LEVELS[decision.status] == DiagnosticStatus.ERROR:
            raise ArgumentError(sentence(decision))

    def _stop_sending(self) -> None:
        self.send_last()
        self._set_active(False)
        self._configuration.use_withheld_description()
        if self.policy is not None:
            self._cycle(self.policy, self._clocks.now())  # which sends nothing, and reports that

    def _set_active(self, is_active: bool) -> str:
        """Allow or forbid efforts; return why the parameters do not fit the robot, if so."""
        self._configuration.is_active = is_active
        misfit = self._configuration.refresh()
        self._report_state()
        return misfit

    def _report_state(self) -> None:
        self._diagnostics.notice(SUBJECT, self._state, resolution='the node is active')

    @property
    def _state(self) -> str:
        """Return a sentence about the state; empty where the node is active."""
        if self._configuration.is_active:
            return ''
        unloaded = 'finalized' if self._is_finalized else 'unconfigured'
        state = 'inactive' if self._configuration.has_begun else unloaded
        return f'the node is {state}: nothing is sent'

    # ---- callbacks ------------------------------------------------------------------------------

    def _on_description(self, message: String) -> None:
        self._description = message
        self._offered.pop('robot_description', None)  # since the topic is newer
        if self._configuration.has_begun:
            super()._on_description(message)

    def _watch(self, now: Instant) -> None:
        if self._configuration.has_begun:
            super()._watch(now)

    def _on_enable(
            self, request: SetBool.Request, response: SetBool.Response
            ) -> SetBool.Response:
        response = super()._on_enable(request, response)
        if response.success and not self._configuration.is_active:
            response.message = f'{self._state}; enabled takes effect while it is active'
        return response

    def _on_parameters_to_set(self, changed: list[Parameter]) -> SetParametersResult:
        """Check parameters while no configuration does; remember which ones were set."""
        if not self._configuration.has_begun:
            try:
                self._controllers.check_names(parameters.check_each(changed))
            except RneaError as error:
                return SetParametersResult(successful=False, reason=shortened(str(error)))
        self._offered.update((parameter.name, parameter.value) for parameter in changed)
        return SetParametersResult(successful=True)

    def _has_set(self, name: str) -> bool:
        """Return whether a parameter has been set since the start, and no callback refused it."""
        return name in self._offered and self._offered[name] == self.get_parameter(name).value

    def _refusing_impossible(self, change_state: Callable) -> Callable:
        """
        Return the callback of ~/change_state, which refuses transitions that do not exist.

        In Humble and Jazzy, rclpy's own raises an exception, which would end the node.
        """
        def answer(
                request: ChangeState.Request, response: ChangeState.Response
                ) -> ChangeState.Response:
            label = request.transition.label
            if len(label) > LONGEST_LABEL or not label.isprintable():  # rclpy would log all of it
                self.get_logger().error(shortened(f'there is no such transition: {label!r}'))
                response.success = False
                return response
            try:
                return change_state(request, response)
            except Exception as error:  # noqa: BLE001 (a request must not end the node)
                self.get_logger().error(shortened(f'the transition is not possible: {error}'))
                response.success = False
                return response

        return answer


def main(args: list[str] | None = None) -> None:
    """Run the managed node until a signal ends it."""
    run(ManagedInverseDynamicsNode, args)


if __name__ == '__main__':
    main()
