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
"""The worker processes: what they answer, how they end, and what they never import or print."""

from contextlib import suppress
import os
from pathlib import Path
import pickle
from secrets import randbits
import shutil
import signal
import socket
import subprocess
import sys
from threading import Event, Thread

import numpy as np
from patience import PATIENCE, until
import pytest
from repository import ROOT
import ros2_rnea
from ros2_rnea import AdjustableRobot, Robot
from ros2_rnea.control.settings import Settings
from ros2_rnea.errors import DescriptionError, RneaError
from ros2_rnea.kernels.engines import Compilation, Engine
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.node.models.model_building import KERNELS, ModelParameters, Payload, Source
from ros2_rnea.node.worker import background_thread
from ros2_rnea.node.worker import model_worker as worker_module
from ros2_rnea.node.worker import worker_process as process_module
from ros2_rnea.node.worker import worker_program
from ros2_rnea.node.worker.background_thread import BackgroundThread
from ros2_rnea.node.worker.channel import Channel, LARGEST
from ros2_rnea.node.worker.model_worker import Built, ModelWorker, Request
from ros2_rnea.node.worker.worker_process import WorkerError, WorkerProcess
from ros2_rnea.offline.audit import audit
from small_robots import ARM, ARM_WITH_GRIPPER, joint, link, robot

BOX = Payload('box', 'tool', Inertial(1.5, Pose((0.1, 0.0, 0.2)), (0.01, 0, 0, 0.01, 0, 0.01)))


def question(description=ARM, engine=Engine.TEXTBOOK, **more):
    source = Source(description, **{'massless_links': (), 'strict': False, **more})
    return worker_module.model_request(source, engine)


@pytest.fixture
def exits():
    return []


@pytest.fixture
def process(exits):
    process = WorkerProcess(exits.append)
    yield process
    process.close()


def assert_answers(process):
    answer = process.ask(question())
    assert pickle.loads(answer['tree']).name == 'arm'
    return answer


# ---- what goes over the connection --------------------------------------------------------------


def sized(content):
    """Return the content of a message as it is sent, after its size."""
    return len(content).to_bytes(8, 'big') + content


def sent_and_received(message):
    ours, theirs = map(Channel, socket.socketpair())
    sender = Thread(target=ours.send, args=[message])
    sender.start()
    received = theirs.receive()
    sender.join()
    return received


@pytest.mark.parametrize('text', [ARM, ARM_WITH_GRIPPER])
def test_a_tree_comes_back_as_it_was(text):
    tree = Robot.from_urdf(text).tree
    back = sent_and_received({'tree': tree})['tree']
    assert pickle.dumps(back) == pickle.dumps(tree) and back.bodies[0].type is tree.bodies[0].type
    assert Robot(back).inverse_dynamics(*np.full((3, tree.nv), 0.3)).tolist() == (
        Robot(tree).inverse_dynamics(*np.full((3, tree.nv), 0.3)).tolist())


def test_other_data_comes_back_as_it_was():
    heavy = ARM.replace('mass value="1.0"', 'mass value="1e6"')
    findings = tuple(audit(parse_urdf(heavy), heavy, ()))
    source = Source(heavy, ('tool',), strict=True, payload_links=('tool',))
    large = os.urandom(3_000_000)
    message = {'findings': findings, 'source': source, 'engine': Engine.TAPE, 'large': large}
    assert sent_and_received(message) == message and findings


def test_an_end_in_the_middle_of_a_message_is_noticed():
    ours, theirs = socket.socketpair()
    ours.sendall(sized(b'abcde')[:-1])
    ours.close()
    with theirs, pytest.raises(EOFError):
        Channel(theirs).receive()


def test_nothing_is_read_of_a_message_that_is_too_large():
    ours, theirs = socket.socketpair()
    ours.sendall((LARGEST + 1).to_bytes(8, 'big'))
    with ours, theirs, pytest.raises(ValueError, match='4294967297 bytes'):
        Channel(theirs).receive()


# ---- answers ------------------------------------------------------------------------------------


def test_a_model_is_parsed_audited_and_compiled(process):
    pytest.importorskip('llvmlite')
    answer = process.ask(question(engine=Engine.COMPILED, payload_links=('tool', 'nowhere')))
    arm = AdjustableRobot.of(Robot.from_urdf(ARM, engine='compiled'), ['tool'])
    assert pickle.dumps(pickle.loads(answer['tree'])) == pickle.dumps(arm.tree)
    assert answer['machine_code'] == arm.machine_code(*KERNELS) != ()


def test_each_kernel_that_is_compiled_is_reported_before_the_answer(process):
    pytest.importorskip('llvmlite')
    new = robot(link('wall'), link('rod', com=f'0.{randbits(50)} 0 0'),
                joint('pin', 'wall', 'rod'))
    reports = []
    for expected in (9, 0):
        reports.clear()
        answer = process.ask(question(new, Engine.COMPILED), lambda: False, reports.append)
        assert pickle.loads(answer['tree']).name == 'small'
        assert [number for _, number, _ in reports] == [*range(1, expected + 1)]
        assert {total for _, _, total in reports} <= {expected}


def test_an_error_comes_with_its_kind_and_text(process):
    with pytest.raises(DescriptionError, match='no links'):
        process.ask(question('<robot name="empty"/>'))
    assert_answers(process)


def test_a_defect_is_an_error_and_the_process_goes_on(process):
    with pytest.raises(RneaError, match="KeyError: 'nonsense'"):
        process.ask({'task': 'nonsense'})
    pid = process.pid
    assert_answers(process)
    assert process.pid == pid


# ---- what it imports and prints -----------------------------------------------------------------

MARK = "open({!r}, 'w').close()\n"


@pytest.mark.parametrize('search_path', [None, '', '.', 'here'])
def test_no_file_of_the_working_directory_is_imported(
        process, tmp_path, monkeypatch, search_path):
    mark = tmp_path / 'mark'
    for name in ('secrets', 'json', 'numpy', 'socket', 'ros2_rnea', 'worker_tasks'):
        (tmp_path / f'{name}.py').write_text(MARK.format(str(mark)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend('')
    if search_path is not None:
        path = str(tmp_path) if search_path == 'here' else search_path
        monkeypatch.setenv('PYTHONPATH', os.pathsep.join([path, '/usr/lib/python3/dist-packages']))
    assert_answers(process)
    assert not mark.exists()


def test_what_it_prints_does_no_harm_however_much(process, tmp_path, monkeypatch):
    (tmp_path / 'sitecustomize.py').write_text("""
import sys, os
for _ in range(3000):
    print('out' * 100)
    print('err' * 100, file=sys.stderr)
os.write(1, b'without an end' * 10000)
os.write(2, b'without an end' * 10000)
""")
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    assert_answers(process)
    assert sum(map(len, process.last_lines)) <= 5 * 500


# ---- start and end -----------------------------------------------------------------------------


def kill(process):
    os.kill(process.pid, signal.SIGKILL)


def is_running(number):
    try:
        status = Path(f'/proc/{number}/stat').read_text()
    except OSError:
        return False
    return status.rpartition(')')[2].split()[0] not in 'ZX'


def has_ended(number):
    return not is_running(number)


@pytest.mark.parametrize('is_idle', [False, True])
def test_a_dead_process_is_replaced_and_that_is_said(process, exits, is_idle):
    assert_answers(process)
    process.keep_alive()
    assert not exits
    killed = process.pid
    kill(process)
    until(lambda: has_ended(killed))
    if is_idle:  # another thread of the process may be ending still
        until(lambda: process.keep_alive() or exits)
    else:
        assert_answers(process)
    assert exits == ['killed by SIGKILL']
    assert process.pid != killed and is_running(process.pid)


@pytest.mark.parametrize('is_idle', [False, True])
def test_a_stopped_process_is_replaced_and_that_is_said(process, exits, is_idle, monkeypatch):
    """As by SIGSTOP; nothing else would tell that it never answers."""
    monkeypatch.setattr(process_module, 'LONGEST_STOP', 0.1)
    assert_answers(process)
    before = process.pid
    os.kill(before, signal.SIGSTOP)
    if is_idle:
        until(lambda: process.keep_alive() or exits)
    assert_answers(process)
    assert process.pid != before and has_ended(before)
    assert exits == ['it was stopped, as by SIGSTOP']


def test_a_process_that_goes_on_in_time_is_kept(process, exits, monkeypatch):
    monkeypatch.setattr(process_module, 'LONGEST_STOP', 3600.0)
    assert_answers(process)
    before = process.pid
    os.kill(before, signal.SIGSTOP)
    until(lambda: process.keep_alive() or process._stopped_at is not None)
    os.kill(before, signal.SIGCONT)
    assert_answers(process)
    until(lambda: process.keep_alive() or process._stopped_at is None)
    assert process.pid == before and not exits


def test_a_request_that_ends_two_processes_is_refused(process, exits):
    reason = '2 worker processes have exited while they worked on the request: killed'
    with pytest.raises(WorkerError, match=reason):
        process.ask(question(), lambda: kill(process))
    assert exits == ['killed by SIGKILL', 'killed by SIGKILL']
    assert_answers(process)


def test_the_last_printed_line_is_part_of_the_reason(process, monkeypatch, tmp_path):
    (tmp_path / 'sitecustomize.py').write_text(
        'import os, sys\nprint("a library is broken", file=sys.stderr, flush=True)\nos._exit(3)\n')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    with pytest.raises(WorkerError, match='status 3; the last line that it printed: a library is'):
        process.ask(question())


def test_a_process_that_cannot_be_started_is_told_of(process, monkeypatch):
    monkeypatch.setattr('sys.executable', '/nowhere/python')
    with pytest.raises(WorkerError, match='/nowhere/python'):
        process.ask(question())


NODE = """
from sys import argv
from threading import Thread
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.node.models.model_building import Source
from ros2_rnea.node.worker.model_worker import model_request
from ros2_rnea.node.worker.worker_process import WorkerProcess
process = WorkerProcess(print)
source = Source(argv[1], massless_links=(), strict=False)
Thread(target=process.ask, args=[model_request(source, Engine[argv[2]])]).start()
while process.pid is None:
    pass
print(process.pid, flush=True)
"""

# In place of the compiler: it holds the worker's interpreter lock, as the compiler may.
COMPILER = """
import ctypes, os, sys
if not sys.argv[0].endswith('worker_program.py'):
    raise ImportError
open(os.environ['MARK'], 'w').close()
ctypes.PyDLL(None).sleep(1000)
"""


@pytest.fixture
def node_that_compiles(tmp_path):
    """Start a node whose worker process is compiling; return it and the worker's number."""
    (tmp_path / 'llvmlite.py').write_text(COMPILER)
    mark = tmp_path / 'mark'
    environment = {**os.environ, 'PYTHONPATH': str(tmp_path), 'MARK': str(mark),
                   'XDG_CACHE_HOME': str(tmp_path)}
    node = subprocess.Popen([sys.executable, '-c', NODE, ARM, 'COMPILED'], env=environment,
                            stdout=subprocess.PIPE, text=True)
    number = int(node.stdout.readline())
    until(mark.exists)
    yield node, number
    node.kill()
    node.wait()
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def test_it_ends_with_a_node_killed_while_it_compiles(node_that_compiles):
    node, number = node_that_compiles
    assert is_running(number)
    node.kill()
    node.wait()
    until(lambda: has_ended(number))


# A node whose package is upgraded, after which its worker process crashes.
UPGRADED = """
from os import kill
from pathlib import Path
import ros2_rnea
from ros2_rnea.errors import RneaError
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.node.models.model_building import Source
from ros2_rnea.node.worker.model_worker import model_request
from ros2_rnea.node.worker.worker_process import WorkerProcess
process = WorkerProcess(print)
request = model_request(Source({arm!r}, massless_links=(), strict=False), Engine.TEXTBOOK)
process.ask(request)
file = Path(ros2_rnea.__file__).parent / 'model' / 'description.py'
text = file.read_text()
file.write_text(text + '# changed')
process.ask(request)
kill(process.pid, 9)
for _ in range(2):
    try:
        process.ask(request)
    except RneaError as error:
        print(error)
file.write_text(text)
kill(process.pid, 9)
process.ask(request)
process.close()
"""


def test_a_process_with_other_code_is_not_believed(tmp_path):
    """Its numbers may be in another order, and its machine code may take other arguments."""
    shutil.copytree(ROOT / 'ros2_rnea', tmp_path / 'ros2_rnea')
    result = subprocess.run(
        [sys.executable, '-c', UPGRADED.format(arm=ARM)], capture_output=True, text=True,
        cwd=tmp_path, env={**os.environ, 'PYTHONPATH': str(tmp_path)}, timeout=PATIENCE,
        check=False)
    assert result.returncode == 0, result.stderr
    killed, *refusals, killed_again = result.stdout.splitlines()
    assert killed == killed_again == 'killed by SIGKILL'
    assert len(refusals) == 2 and len({*refusals}) == 1
    assert 'the package ros2_rnea has changed on disk since this node was started' in refusals[0]
    assert refusals[0].endswith('restart the node')


OVERLAID = """
from ros2_rnea.kernels.engines import Engine
from ros2_rnea.node.models.model_building import Source
from ros2_rnea.node.worker.model_worker import model_request
from ros2_rnea.node.worker.worker_process import WorkerProcess
process = WorkerProcess(print)
process.ask(model_request(Source({arm!r}, massless_links=(), strict=False), Engine.TEXTBOOK))
process.close()
"""


@pytest.mark.parametrize('is_first', [True, False])
def test_it_runs_the_package_that_the_node_has_imported(tmp_path, is_first):
    """A workspace may have another version than the release over which it is sourced."""
    workspace, release = tmp_path / 'workspace', tmp_path / 'release'
    shutil.copytree(ROOT / 'ros2_rnea', workspace / 'ros2_rnea')
    (workspace / 'dependency.py').touch()
    with (workspace / 'ros2_rnea' / '__init__.py').open('a') as file:
        file.write('import dependency\n')
    (release / 'ros2_rnea').mkdir(parents=True)
    (release / 'ros2_rnea' / '__init__.py').write_text('raise ImportError("the other copy")')
    folders = [workspace, release] if is_first else [release]
    result = subprocess.run(
        [sys.executable, '-c', OVERLAID.format(arm=ARM)], capture_output=True, text=True,
        cwd=tmp_path if is_first else workspace, timeout=PATIENCE, check=False,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, folders))})
    assert (result.returncode, result.stdout) == (0, ''), result.stderr


def test_it_does_not_start_where_the_node_has_ended_meanwhile():
    reader, writer = os.pipe()
    ours, theirs = socket.socketpair()
    os.close(writer)
    program = [sys.executable, worker_program.__file__, str(theirs.fileno()), str(reader), '',
               ros2_rnea.__file__]
    with ours, theirs:
        assert subprocess.run([*program, *sys.path], pass_fds=[theirs.fileno(), reader],
                              timeout=PATIENCE, check=False).returncode == 0
    os.close(reader)


@pytest.mark.parametrize('number', [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_the_terminal_does_not_end_it(process, number):
    assert_answers(process)
    pid = process.pid
    os.kill(pid, number)
    assert_answers(process)
    assert process.pid == pid


def test_it_is_less_urgent_than_the_node(process):
    assert_answers(process)
    pid = process.pid
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, ours + 10)
    assert os.sched_getscheduler(pid) == os.SCHED_OTHER
    assert Path(f'/proc/{pid}/oom_score_adj').read_text().strip() == '500'


def test_a_closed_one_answers_no_more(process):
    assert_answers(process)
    process.close()
    assert not Path(f'/proc/{process.pid}').exists()  # it was waited for, too
    with pytest.raises(WorkerError, match='the node is ending'):
        process.ask(question())


@pytest.mark.parametrize('answer', [
    b'no', b'', pickle.dumps(1), pickle.dumps([]), b'cnowhere\nto_be_found\n.',
    pickle.dumps({'error': 'annotations', 'text': ''})])
def test_an_answer_that_cannot_be_read_ends_the_process(
        process, monkeypatch, answer):
    assert_answers(process)
    running = process.pid
    with monkeypatch.context() as broken:
        broken.setattr(Channel, 'receive_bytes', lambda _: answer)
        with pytest.raises(WorkerError, match='cannot be read'):
            process.ask(question())
    assert has_ended(running)
    assert_answers(process)


def test_a_connection_that_cannot_be_made_is_told_of(process, monkeypatch):
    def fail(*_):
        raise OSError(24, 'Too many open files')

    monkeypatch.setattr(process_module, 'channel_pair', fail)
    with pytest.raises(WorkerError, match='Too many open files'):
        process.ask(question())
    monkeypatch.undo()
    assert_answers(process)


def test_a_working_directory_that_is_deleted_does_no_harm(process, tmp_path, monkeypatch):
    gone = tmp_path / 'gone'
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert_answers(process)


def test_lines_printed_before_an_answer_explain_no_exit(process, tmp_path, monkeypatch):
    (tmp_path / 'sitecustomize.py').write_text('import sys; print("some", file=sys.stderr)')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    process.start()
    until(lambda: process.last_lines == ('some',))
    assert_answers(process)
    assert process.last_lines == ()


def test_threads_beside_the_cycle_leave_the_real_time_scheduler(process):
    """Start as a thread of the cycle would, and see what process and threads become."""
    seen, refused = [], []

    def answer_in_background():
        assert_answers(process)
        seen.append(os.sched_getscheduler(0))
        seen.append(os.sched_getscheduler(process.pid))

    def as_the_cycle():
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except OSError as error:
            refused.append(error)
            return
        thread = BackgroundThread(target=answer_in_background)
        thread.start()
        seen.append(os.sched_getscheduler(0))
        thread.join()

    urgent = Thread(target=as_the_cycle)
    urgent.start()
    urgent.join()
    if refused:
        pytest.skip(f'no real-time priority here: {refused[0]}')
    assert seen == [os.SCHED_FIFO, os.SCHED_OTHER, os.SCHED_OTHER]


# ---- the thread ---------------------------------------------------------------------------------


@pytest.fixture
def worker(exits):
    worker = ModelWorker(exits.append)
    yield worker
    worker.close()


def request(description=ARM, **settings):
    return Request(Source(description, (), strict=False), ModelParameters(), Settings(**settings))


def answer_of(worker):
    answers = []
    until(lambda: answers or [answers.append(answer) for answer in [worker.take()] if answer])
    return answers[0]


def test_its_process_runs_before_the_first_request(worker):
    until(lambda: worker.process.pid)


def test_a_request_is_answered_with_a_model_and_a_policy(worker):
    asked = request(lookahead=0.01)
    worker.request(asked)
    answer = answer_of(worker)
    assert answer.request is asked and not isinstance(answer.result, RneaError)
    assert answer.result.model.robot.joint_names == ('shoulder', 'elbow')
    assert answer.result.policy.settings == asked.settings
    assert worker.take() is None


def test_unfit_settings_are_an_error_of_the_request(worker):
    worker.request(request(joints=('elbw',)))
    assert 'did you mean' in str(answer_of(worker).result)


def test_of_several_requests_only_the_newest_is_answered(worker):
    other = ARM.replace('"arm"', '"other"')
    for description in (ARM, '<robot/>', other):
        worker.request(request(description))
    assert answer_of(worker).request.source.description == other
    assert worker.take() is None


@pytest.mark.parametrize('is_answered', [False, True])
def test_what_is_cancelled_is_not_answered(worker, monkeypatch, is_answered):
    may_go_on, ask = Event(), WorkerProcess.ask
    monkeypatch.setattr(WorkerProcess, 'ask', lambda process, *asked: (
        may_go_on.wait(PATIENCE) and ask(process, *asked)))
    worker.request(request())
    until(lambda: worker.is_busy)
    if not is_answered:
        worker.cancel()
    may_go_on.set()
    until(lambda: not worker.is_busy)
    worker.cancel()
    assert worker.take() is None


@pytest.fixture
def stuck(worker, monkeypatch):
    """Return the number of the process, which computes as if for ever, and no longer may."""
    monkeypatch.setattr(worker_module, 'SUPERSEDED_TIMEOUT', 0.05)
    worker.request(request())
    answer_of(worker)
    number = worker.process.pid
    os.kill(number, signal.SIGSTOP)
    worker.request(request('<robot/>'))
    until(lambda: worker.is_busy)
    return number


def test_a_process_stuck_with_a_cancelled_request_is_ended(worker, exits, stuck):
    worker.cancel()
    until(lambda: has_ended(stuck) and not worker.is_busy)
    assert worker.take() is None
    assert not exits


def test_a_request_that_is_overtaken_may_take_only_so_long(worker, exits, stuck):
    worker.request(request())
    assert isinstance(answer_of(worker).result, Built)
    assert has_ended(stuck) and not exits


def test_the_progress_is_never_that_of_the_request_before(worker, monkeypatch):
    compiling, other = Compilation('gravity', 1, 9), ARM.replace('"arm"', '"other"')
    is_compiling, go_on, has_reported, end = Event(), Event(), Event(), Event()

    def ask(_, asked, is_cancelled, on_progress):
        if asked['source'].description == ARM:
            on_progress(compiling)
            is_compiling.set()
            go_on.wait(PATIENCE)
            on_progress(compiling)
            has_reported.set()
        end.wait(PATIENCE)
        raise RneaError('that was all')

    monkeypatch.setattr(WorkerProcess, 'ask', ask)
    worker.request(request())
    assert is_compiling.wait(PATIENCE)
    assert worker.progress.kernel == compiling
    worker.request(request(other))
    go_on.set()
    assert has_reported.wait(PATIENCE)
    progress = worker.progress
    end.set()
    assert answer_of(worker).request.source.description == other
    assert progress is None and worker.progress is None


def test_an_idle_worker_starts_a_process_that_has_died(worker, exits, monkeypatch):
    monkeypatch.setattr(worker_module, 'CHECK_PERIOD', 0.02)
    worker.request(request())
    answer_of(worker)
    kill(worker.process)
    until(lambda: exits and worker.process.pid)
    worker.request(request())
    assert isinstance(answer_of(worker).result, Built)


def test_a_defect_in_the_thread_is_the_answer(worker, monkeypatch):
    monkeypatch.setattr(worker_module, 'adjustable', None)
    worker.request(request())
    assert 'TypeError' in str(answer_of(worker).result)
    monkeypatch.undo()
    worker.request(request())
    assert isinstance(answer_of(worker).result, Built)


# ---- the end ------------------------------------------------------------------------------------


def closes(owner):
    """Return whether something can be closed, however long its thread computes."""
    closer = Thread(target=owner.close, daemon=True)
    closer.start()
    closer.join(PATIENCE)
    return not closer.is_alive()


def test_a_thread_that_computes_does_not_hold_up_the_end(worker, monkeypatch):
    monkeypatch.setattr(background_thread, 'LONGEST_END', 0.05)
    is_building, may_end = Event(), Event()
    monkeypatch.setattr(WorkerProcess, 'ask', lambda *_: is_building.set() or may_end.wait())
    worker.request(request())
    assert is_building.wait(PATIENCE)
    try:
        assert closes(worker) and worker.is_busy
    finally:
        may_end.set()
    until(lambda: not worker.is_busy)


def test_an_unkillable_process_does_not_hold_up_the_end(process, monkeypatch):
    assert_answers(process)

    def never_ends(_, timeout=None):
        assert timeout is not None
        raise subprocess.TimeoutExpired('worker', timeout)

    with monkeypatch.context() as patch:
        patch.setattr(subprocess.Popen, 'wait', never_ends)
        process.close()
    with pytest.raises(WorkerError, match='the node is ending'):
        process.ask(question())
