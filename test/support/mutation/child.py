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
"""What happens in the processes that run tests: once for coverage, then once for each mutant."""

from __future__ import annotations

from importlib import import_module
import json
import os
from pathlib import Path
import resource
import signal
import sys
import time

MEMORY = 12 << 30
"""What a mutant that never ends may take of it [bytes]."""

OK, NO_TESTS = 0, 5
"""With what pytest ends where no test fails."""

COLLECTING = 120.0
MIN_PATIENCE, PATIENCE = 20.0, 10.0
"""A test may take so long [s] and so many times as long as without a mistake."""


def warm_up(modules: list[str]) -> None:
    """Import what the tests will import."""
    for name in modules:
        try:
            import_module(name)
        except Exception:  # noqa: BLE001, what it is does not matter: the tests will tell
            continue


def _enter(place: Path, log: Path) -> None:
    """Make this process one that tests what stands in a place."""
    os.setsid()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.chdir(place)
    sys.path[0] = str(place)
    os.environ['PYTHONPATH'] = str(place)


def _pytest(arguments: list[str], plugin: object) -> None:
    """Run pytest, and end this process with what it returns."""
    import pytest
    code = 3
    try:
        code = int(pytest.main(['-q', '-p', 'no:cacheprovider', *arguments], [plugin]))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Measuring:
    """Keeps which test comes by which line or starts a process, and how long it takes."""

    def __init__(self, place: Path, package: str, kept: Path) -> None:
        import coverage
        self._place, self._package, self._kept = place, package, kept
        self._seconds: dict[str, float] = {}
        self._test = ''
        self._starters: set[str] = set()
        sys.addaudithook(self._notice_process)
        os.environ.setdefault('COVERAGE_CORE', 'ctrace')  # the one that knows contexts
        self._coverage = coverage.Coverage(
            data_file=None, source=[str(place / package)], config_file=False)
        self._coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Count what now runs for a test."""
        self._test = nodeid
        self._coverage.switch_context(nodeid)
        self._seconds[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Count no longer."""
        self._test = ''
        self._coverage.switch_context('')
        self._seconds[nodeid] = time.monotonic() - self._seconds[nodeid]

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write what was counted."""
        self._coverage.stop()
        if exitstatus not in (OK, NO_TESTS):
            return
        data = self._coverage.get_data()
        lines = {
            str(Path(path).relative_to(self._place)): {
                line: names for line, contexts in data.contexts_by_lineno(path).items()
                if (names := [name for name in contexts if name])}
            for path in data.measured_files()}
        modules = [
            name for name, module in list(sys.modules.items())
            if name.split('.')[0] != self._package and getattr(module, '__spec__', None)
            and not str(getattr(module, '__file__', None)).startswith(str(self._place))]
        self._kept.write_text(json.dumps(
            {'lines': lines, 'seconds': self._seconds, 'modules': modules,
             'starters': sorted(self._starters)}))

    def _notice_process(self, event: str, _: tuple) -> None:
        if event == 'subprocess.Popen' and self._test:
            self._starters.add(self._test)


class Mutated:
    """Runs some tests in a given order, and keeps the name of the one that fails."""

    def __init__(self, place: Path, tests: list[str], seconds: dict[str, float]) -> None:
        self._killer = place / 'killer'
        self._order = {name: number for number, name in enumerate(tests)}
        self._seconds = seconds
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, COLLECTING)

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Leave the tests that come by the mutant, in the order that was asked for."""
        items[:] = sorted((item for item in items if item.nodeid in self._order),
                          key=lambda item: self._order[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Let the process die unless the test ends in time."""
        self._killer.write_text(nodeid)
        signal.setitimer(signal.ITIMER_REAL,
                         MIN_PATIENCE + PATIENCE * self._seconds.get(nodeid, 0.0))


def measure(place: Path, package: str, tests: list[str], kept: Path) -> None:
    """Run the tests for coverage, without those that bound a time; does not return."""
    _enter(place, kept.with_suffix('.log'))
    _pytest([*tests, '-m', 'not flaky'], Measuring(place, package, kept))


def run_tests(place: Path, tests: list[str], seconds: dict[str, float]) -> None:
    """Run the tests of a mutant until one fails; does not return."""
    _enter(place, place / 'log')
    os.environ['ROS2_RNEA_TEST_PATIENCE'] = '10'  # mutants let many a test wait in vain
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    files = list(dict.fromkeys(name.split('::')[0] for name in tests))
    _pytest(['-x', '--tb=line', *files], Mutated(place, tests, seconds))
