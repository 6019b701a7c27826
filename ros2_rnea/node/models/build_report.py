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
"""What is reported while a model is built: that it takes long, how far its compilation is."""

from __future__ import annotations

from math import inf
from time import monotonic

from rclpy.node import Node
from ros2_rnea.node.diagnostics import Diagnostics
from ros2_rnea.node.worker.model_worker import Built, Progress

LONG_BUILD = 1.0
"""Duration of a build above which it is reported on /diagnostics [s]."""

PROGRESS_PERIOD = 5.0
"""Period at which the log reports the progress of a compilation [s]."""


class BuildReport:
    """Reports one build after the other, in the log and on /diagnostics."""

    def __init__(self, node: Node, diagnostics: Diagnostics) -> None:
        self._node = node
        self._diagnostics = diagnostics
        self._requested_at = 0.0
        self._is_compiling = False
        self._logged_at = -inf

    def begin(self) -> None:
        """Note that a model has been requested."""
        self.end()
        self._requested_at = monotonic()

    def end(self) -> None:
        """Note that no model is waited for any more."""
        self._is_compiling = False
        if self._diagnostics.compiling:
            self._diagnostics.compiling = ''
            self._diagnostics.publish()

    def go_on(self, progress: Progress | None, has_model: bool) -> None:
        """
        Report that the model is still being built.

        :param progress: of its compilation; None: it is not compiled, or not yet.
        :param has_model: whether another one is used until then.
        """
        if progress is not None:
            self._report_compilation(progress)
            return
        self._is_compiling = False
        if monotonic() - self._requested_at > LONG_BUILD:
            self._diagnostics.notice('model', 'a new model is being built' + (
                '; the previous one is used until then' if has_model else ''))

    def _report_compilation(self, progress: Progress) -> None:
        number, total = progress.kernel.number, progress.kernel.total
        logger = self._node.get_logger()
        self._diagnostics.compiling = (
            f'compiling kernel {number} of {total} ({progress.kernel.quantity}), '
            f'{monotonic() - progress.since:.1f} s so far')
        if not self._is_compiling:
            self._is_compiling = True
            logger.info(
                f'compiling {total} kernels, once for each robot; `ros2 run ros2_rnea compile` '
                'does it beforehand')
            self._logged_at = monotonic()
            self._diagnostics.publish()
        elif monotonic() - self._logged_at >= PROGRESS_PERIOD:
            logger.info(self._diagnostics.compiling)
            self._logged_at = monotonic()

    def answered(self, progress: Progress | None, result: object) -> None:
        """Report the end of a compilation, if there was one."""
        if progress is None:
            return
        self.end()
        if isinstance(result, Built):
            self._node.get_logger().info(
                f'compiled {progress.kernel.total} kernels in '
                f'{monotonic() - progress.since:.1f} s')
