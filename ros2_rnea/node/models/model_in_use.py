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
The model in use and the policy that decides with it.

Both are changed here as far as no other model has to be built: settings, payloads and the
parameters of joints.  What could drop the arm is judged before it is used, on a copy of the robot,
its twin; where it is refused, nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ros2_rnea.control.judgement import check_settings, FIRST, lost_bound
from ros2_rnea.control.policy import Policy
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import ArgumentError, UnsafeChangeError
from ros2_rnea.node.models.model_building import Model, ModelParameters
from ros2_rnea.node.worker.model_worker import Request
from ros2_rnea.offline.audit import Kind


OF_LIMITS = (Kind.UNUSABLE, Kind.NO_POSITION_LIMITS, Kind.LOCKED)
"""The findings that say why a joint has no range or no velocity limit."""


class ModelInUse:
    """
    A model, a policy and the numbers in its robot.

    :ivar applied: the payloads and joint parameters that are set in the robot.
    """

    def __init__(self, model: Model, policy: Policy, applied: ModelParameters) -> None:
        self.model = model
        self.policy = policy
        self.applied = applied

    # ---- settings -------------------------------------------------------------------------------

    def check_settings(self, settings: Settings) -> None:
        """
        Check that settings can be used.

        Settings that disable the node need not hold the arm: the rest of them may wait until
        nothing is sent any more.

        :raises ArgumentError: where they do not fit the robot, or the arm would not be held.
        """
        policy = self.policy
        if not policy.can_change_to(settings):
            check_settings(policy.robot, settings)
        elif settings.enabled:
            policy.check_change(settings)
        else:
            check_settings(policy.robot, settings)
            policy.check_change(replace(policy.settings, command_scale=settings.command_scale))

    def change_settings(
            self, settings: Settings, transition: float | None,
            publish_for: Callable[[Policy], None]) -> None:
        """
        Use settings, with a new policy only where the controlled joints change.

        :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
        :param publish_for: called before a new policy is used; where it raises, nothing changes.
        :raises ArgumentError: where the settings do not fit the robot; then nothing has changed.
        """
        policy = self.policy
        if policy.can_change_to(settings):
            policy.change_settings(settings, transition)
            return
        try:
            successor = Policy(policy.robot, settings)
            take_over(successor, policy, transition)
            publish_for(successor)
        except BaseException:
            policy.robot.set_gravity(policy.gravity)  # both have the same robot
            raise
        self.policy = successor

    def disable(self, settings: Settings, transition: float | None) -> None:
        """Stop sending, as ``on_stop`` of some settings says."""
        policy = self.policy
        disabled = replace(
            policy.settings, enabled=False, may_be_enabled=settings.may_be_enabled,
            may_send_last=settings.may_send_last, on_stop=settings.on_stop)
        try:
            if disabled != policy.settings:
                policy.change_settings(disabled, transition)
        except ArgumentError:  # the arm is not held as it is
            policy.change_settings(replace(policy.settings, enabled=False))
            if not settings.may_send_last:
                policy.restart()

    # ---- payloads and joint parameters ----------------------------------------------------------

    def check_parameters(self, candidate: ModelParameters, settings: Settings) -> None:
        """
        Check that payloads and joint parameters are possible, and that the arm is held with them.

        :param settings: that are set with them, in place of those in use.
        :raises RneaError: where this is not the case.
        """
        self.model.check(candidate)
        if candidate == self.applied:
            return
        if not self.policy.can_change_to(settings):
            settings = self.policy.settings
        with self._judged(candidate, settings):
            twin_of(self.model, self.policy).update(self.applied)

    def set_parameters(self, wanted: ModelParameters, transition: float | None) -> None:
        """
        Set the payloads that the model accepts, and joint parameters.

        :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
        :raises RneaError: where a value is not possible; then nothing has changed.
        """
        with self._judged(wanted, self.policy.settings):
            is_changed = self.model.update(wanted)
        if is_changed:
            self.policy.take_snapshot()
            self.policy.hand_over(transition)
        self.applied = wanted

    @contextmanager
    def _judged(self, candidate: ModelParameters, settings: Settings) -> Iterator[None]:
        """
        Judge payloads and joint parameters on the twin of the robot, before they are used.

        :param settings: with which the arm has to be held.
        :raises RneaError: where a value is not possible, or the arm would not be held.  The robot
            in use is not changed for that, and its twin has the same numbers again.
        """
        model, twin = self.model, twin_of(self.model, self.policy)
        waiting = [payload for payload in candidate.payloads
                   if payload.link in model.tree.links and not model.accepts_payload(payload)]
        is_new = any(payload not in self.applied.payloads for payload in waiting)
        coming = {payload.name: (payload.link, payload.inertial) for payload in waiting if is_new}
        try:
            twin.update(candidate)
            self.policy.check_held(settings, candidate.joint_parameters != (
                self.applied.joint_parameters), coming)
            yield
        except BaseException:
            twin.update(self.applied)
            raise


def check_bounds(model: Model, policy: Policy, previous: Policy) -> None:
    """
    Check that no joint of a robot that is driven loses a bound.

    :param model: of the policy that is to be used, with the findings of its audit.
    :raises UnsafeChangeError: naming the joint, what it had, and what is wrong with the new one.
    """
    joint, bound = lost_bound(policy.joints, previous.joints)
    if joint:
        found = [finding.text for finding in model.findings if finding.kind in OF_LIMITS
                 and finding.subject == f'joint {joint!r}']
        raise UnsafeChangeError(
            f'joint {joint!r} has {bound}, and would have none: '
            f'{"; ".join(found) or "write its limits into the description"}. The robot is driven: '
            f'{FIRST}')


def take_over(policy: Policy, previous: Policy, transition: float | None) -> None:
    """
    Let a policy go on where the previous one ends.

    :param transition: duration of the blend of the effort [s]; None: ``blend_time``.
    :raises RneaError: where it could not hold the arm.
    """
    policy.resume(
        previous.memory, transition, previous.overload(), previous.friction_shares())
    if previous.settings.joints != policy.settings.joints:
        policy.restart()  # another effort may be held than the last one: see evidence


def updated(model: Model, policy: Policy, request: Request) -> Policy:
    """
    Set in a new model what has changed while it was being built or had to wait.

    For thirty joints this takes as long as a swap.  Both in one turn would take the control
    thread more than a millisecond.

    :param request: with the parameters and settings of now.
    :return: the policy, or another one where other joints are controlled.
    :raises RneaError: where the model cannot be used with these values.
    """
    model.update(request.parameters)
    settings, is_checked = request.settings, False
    changes_units = settings.command_scale != policy.settings.command_scale
    if changes_units or not policy.can_change_to(settings):
        policy = Policy(model.robot, settings)
    else:
        twin_of(model, policy).update(request.parameters)
        if policy.settings != settings:
            policy.change_settings(settings)  # with a snapshot
            is_checked = settings.enabled
        else:
            policy.take_snapshot()
    if not is_checked:
        policy.check_held()
    policy.friction_shares()  # computed here, and not in the swap
    return policy


def twin_of(model: Model, policy: Policy) -> Model:
    """Return a model with the twin of its robot, on which changes are judged."""
    return model._replace(robot=policy.stages.judgement.twin)
