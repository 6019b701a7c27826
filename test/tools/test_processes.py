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
"""Child processes are ended, whatever happens and however they resist."""

import os
import signal
import sys
import weakref

from patience import PATIENCE, until
import pytest

from ros2_rnea.tools.demo import processes
from ros2_rnea.tools.demo.processes import ChildError, Children, exit_at_signals

READY = "print('ready', flush=True)\n"
SLEEPER = f'import time\n{READY}time.sleep(60)'
STUBBORN = f"""
import signal, time
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
{READY}
while True:
    time.sleep(60)
"""
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
{READY}
child.wait()
"""


@pytest.fixture
def impatient(monkeypatch):
    """Let children be ended with little patience."""
    monkeypatch.setattr(processes, 'PATIENCE', tuple(
        (number, PATIENCE if number == signal.SIGKILL else 0.3)
        for number, _ in processes.PATIENCE))


def start(children, folder, name, code):
    """Start Python code, wait until it says that it is ready, and return what it wrote before."""
    children.start(name, [sys.executable, '-c', code])
    log = folder / f'{name}.log'
    until(lambda: 'ready' in log.read_text())
    return log.read_text()


def is_alive(pid):
    """Return whether a process runs; one that ended and was not waited for does not."""
    try:
        with open(f'/proc/{pid}/stat') as stat:
            return stat.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


@pytest.mark.parametrize('code', [SLEEPER, STUBBORN], ids=['sleeper', 'stubborn'])
def test_children_are_ended_on_leaving(tmp_path, impatient, code):
    with Children(tmp_path) as children:
        start(children, tmp_path, 'child', code)
        pid = children._children['child'].pid
        assert is_alive(pid)
    assert not is_alive(pid)


def test_children_are_ended_on_an_error(tmp_path, impatient):
    with pytest.raises(RuntimeError, match='on purpose'), Children(tmp_path) as children:
        start(children, tmp_path, 'child', SLEEPER)
        pid = children._children['child'].pid
        raise RuntimeError('on purpose')
    assert not is_alive(pid)


def test_grandchildren_are_ended_too(tmp_path, impatient):
    with Children(tmp_path) as children:
        grandchild = int(start(children, tmp_path, 'parent', PARENT).split()[0])
        assert is_alive(grandchild)
    until(lambda: not is_alive(grandchild))


def test_a_child_that_ended_is_named_with_its_last_words(tmp_path):
    with Children(tmp_path) as children:
        children.start('driver', [sys.executable, '-c', "raise SystemExit('out of oil')"])
        child = children._children['driver']
        until(lambda: child.poll() is not None)
        with pytest.raises(ChildError, match=r'driver ended by itself with exit code 1(.|\n)*oil'):
            children.check()


def test_children_inherit_the_whole_environment(tmp_path, monkeypatch):
    monkeypatch.setenv('LD_LIBRARY_PATH', os.environ.get('LD_LIBRARY_PATH', '') + ':/nowhere')
    with Children(tmp_path) as children:
        code = f"import os; print(os.environ['LD_LIBRARY_PATH'], flush=True)\n{READY}"
        assert ':/nowhere' in start(children, tmp_path, 'child', code)


def test_a_stubborn_child_is_killed_and_started_again(tmp_path, impatient):
    with Children(tmp_path) as children:
        start(children, tmp_path, 'driver', STUBBORN)
        first = children._children['driver'].pid
        children.kill('driver')
        assert not is_alive(first)
        children.check()  # what was killed on purpose is missed by nobody
        children.restart('driver')
        until(lambda: (tmp_path / 'driver.log').read_text() == 2 * 'ready\n')
        second = children._children['driver'].pid
    assert not is_alive(second)


def test_the_next_run_writes_its_own_log(tmp_path):
    log = tmp_path / 'driver.log'
    for word in ('ready', 'again'):
        with Children(tmp_path) as children:
            children.start('driver', [sys.executable, '-c', SLEEPER.replace('ready', word)])
            until(lambda written=word: written in log.read_text())
    assert 'ready' not in log.read_text()


def test_a_signal_while_a_child_starts_loses_no_child(tmp_path, monkeypatch):
    started = []

    def interrupted(*arguments, **options):
        started.append(popen(*arguments, **options))
        os.kill(os.getpid(), signal.SIGINT)  # as from a keyboard, before Popen has returned
        return started[0]

    popen = processes.subprocess.Popen
    monkeypatch.setattr(processes.subprocess, 'Popen', interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), Children(tmp_path) as children:
            children.start('sleeper', [sys.executable, '-c', SLEEPER])
    finally:
        signal.signal(signal.SIGINT, before)
    assert started[0].poll() is not None


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_exits_once_and_with_its_number(number, tmp_path):
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as left, exit_at_signals():
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)  # a second one disturbs no cleaning up
            cleaned_up = True
    assert left.value.code == 128 + number
    assert cleaned_up
    assert signal.getsignal(number) == before
    Children(tmp_path).check()  # a later demo in this process goes on


@pytest.mark.filterwarnings('ignore::pytest.PytestUnraisableExceptionWarning')
def test_a_signal_in_an_interpreter_callback_is_not_lost(tmp_path):
    """Python drops what is raised there, as while a module is imported."""
    def dropped(number):
        referent = type('Referent', (), {})()
        reference = weakref.ref(referent, lambda _: signal.raise_signal(number))
        del referent
        return reference

    with pytest.raises(SystemExit) as left, exit_at_signals():
        dropped(signal.SIGTERM)
        Children(tmp_path).check()  # as wherever the demo waits
    assert left.value.code == 128 + signal.SIGTERM
    with pytest.raises(SystemExit), exit_at_signals():
        dropped(signal.SIGINT)  # nothing waits after it
