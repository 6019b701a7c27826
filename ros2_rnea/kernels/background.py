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
Compiling in a process of its own, while this one goes on with what it does.

Run as a module, this file is that process: it reads what to compile and writes the object files.
"""

from __future__ import annotations

from collections.abc import Iterable
import os
import pickle
import subprocess
import sys
import tempfile

from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels.compiled import cache, CompiledKernels, KernelSpec
from ros2_rnea.model.tree import Tree

NICENESS = 10
"""By how much the priority of the process is lowered."""


class Compilation:
    """
    A compilation of kernels that another process is making.

    :param tree: of the robot without payloads.
    :param specs: what to compile.
    """

    def __init__(self, tree: Tree, specs: Iterable[KernelSpec]) -> None:
        self._output = tempfile.TemporaryFile()
        self._complaints = tempfile.TemporaryFile()
        with tempfile.TemporaryFile() as specs_file:  # unlike a pipe, it takes all at once
            pickle.dump((tree, [spec.to_plain() for spec in specs]), specs_file)
            specs_file.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, '-m', 'ros2_rnea.kernels.background'], stdin=specs_file,
                stdout=self._output, stderr=self._complaints,
                env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))})

    def has_ended(self) -> bool:
        """Tell whether the process has ended, successfully or not."""
        return self._process.poll() is not None

    def is_done(self) -> bool:
        """
        Tell whether all are compiled; then they are in the cache.

        :raises CompilerError: where the process has failed.
        """
        if not self.has_ended():
            return False
        status = self._process.returncode
        if status != 0:
            self._complaints.seek(0)
            lines = self._complaints.read().decode(errors='replace').splitlines()
            raise CompilerError(
                f'a robot could not be compiled: status {status}, {lines[-1] if lines else ""}')
        self._output.seek(0)
        for key, code in pickle.load(self._output).items():
            cache().put(key, code)
        self.close()
        return True

    def close(self) -> None:
        """End the process, whatever it has done."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._output.close()
        self._complaints.close()


def lower_priority() -> None:
    """Lower the priority of this process, so that it does not disturb a control loop."""
    os.nice(NICENESS)
    if os.sched_getscheduler(0) != os.SCHED_OTHER:  # inherited from a node with real-time priority
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def main() -> None:
    """Compile what standard input asks for."""
    lower_priority()
    tree, specs = pickle.load(sys.stdin.buffer)
    kernels = CompiledKernels(tree)
    made = [kernels.object_file(KernelSpec.from_plain(spec)) for spec in specs]
    pickle.dump(dict(made), sys.stdout.buffer)


if __name__ == '__main__':
    main()
