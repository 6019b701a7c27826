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
"""Kernels are compiled when they must be and only then: what is asked again is found again."""

import compileall
from dataclasses import replace
import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
from threading import Barrier, Event, Thread
from unittest.mock import Mock
import weakref

from many_threads import together
import numpy as np
from patience import PATIENCE, until
import pytest
from repository import ROOT
from ros2_rnea import Robot
from ros2_rnea.dynamics import quantities
from ros2_rnea.dynamics.parameters import JOINT_PARAMETERS
from ros2_rnea.dynamics.quantities import BY_NAME
from ros2_rnea.errors import CompilerError
from ros2_rnea.kernels import compiled, machine
from ros2_rnea.kernels.cache import ObjectCache
from ros2_rnea.kernels.code_version import code_version
from ros2_rnea.kernels.compiled import CompiledKernels
from ros2_rnea.kernels.robot_kernels import signature, SOURCES, VERSION
from ros2_rnea.kernels.taped import TapeKernels
from ros2_rnea.kernels.tracing import Variant
from ros2_rnea.model.description import (
    Inertial,
    JointDescription,
    JointLimits,
    JointType,
    LinkDescription,
    Mimic,
    Pose,
    RobotDescription,
)
from ros2_rnea.model.tree import build_tree
from ros2_rnea.model.urdf import parse_urdf
from small_robots import ARM, ARM_WITH_GRIPPER, FREE_FLYER

if not machine.available():
    pytest.skip('llvmlite is not installed', allow_module_level=True)

ONE = quantities.INVERSE_DYNAMICS, Variant()
STATE = np.array([0.3, -0.4]), np.array([0.5, 0.6]), np.array([0.7, 0.8])
BATCH = [np.tile(vector, (20, 1)) for vector in STATE]


@pytest.fixture
def compilations(monkeypatch):
    counted = Mock(wraps=machine.compile_object)
    monkeypatch.setattr(machine, 'compile_object', counted)
    return counted


@pytest.fixture
def traces(monkeypatch):
    counted = Mock(wraps=compiled.trace)
    monkeypatch.setattr(compiled, 'trace', counted)
    return counted


@pytest.fixture
def loads(monkeypatch):
    counted = Mock(wraps=machine.load)
    monkeypatch.setattr(machine, 'load', counted)
    return counted


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    """Give each test a cache of its own, kept in memory."""
    memory = ObjectCache(None)
    monkeypatch.setattr(compiled, 'cache', lambda: memory)
    return memory


def robot(text=ARM, **options):
    return Robot.from_urdf(text, engine='compiled', **options)


# --- values of a variant are inputs

VALUES = {
    'gravity': lambda r: r.with_gravity((1.0, 2.0, 3.0)),
    'payload': lambda r: r.with_payload('load', 'lower', Inertial(3.0, Pose((0.1, 0.2, 0.3)))),
    'another on the same body': lambda r: r.with_payload('second', 'tool', Inertial(1.0)),
}


@pytest.mark.parametrize('change', VALUES.values(), ids=VALUES)
def test_other_values_compile_nothing(change, compilations, traces):
    loaded = robot().with_payload('load', 'lower', Inertial(1.0))
    before = loaded.inverse_dynamics(*STATE), loaded.inverse_dynamics(*BATCH)
    assert compilations.call_count == traces.call_count == 2
    changed = change(loaded)
    after = changed.inverse_dynamics(*STATE), changed.inverse_dynamics(*BATCH)
    assert compilations.call_count == traces.call_count == 2
    textbook = change(Robot.from_urdf(ARM).with_payload('load', 'lower', Inertial(1.0)))
    for ours, old, expected in zip(
            after, before, (textbook.inverse_dynamics(*STATE), textbook.inverse_dynamics(*BATCH))):
        np.testing.assert_allclose(ours, expected, rtol=1e-13)
        assert not np.allclose(ours, old)


def test_gravity_of_a_call_compiles_nothing(compilations):
    arm = robot()
    for gravity in (None, (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)):
        expected = Robot.from_urdf(ARM).inverse_dynamics(*STATE, gravity=gravity)
        for _ in range(2):
            ours = arm.inverse_dynamics(*STATE, gravity=gravity)
            np.testing.assert_allclose(ours, expected, rtol=1e-13)
    assert compilations.call_count == 1


def with_bodies(tree, **changes):
    """Return a tree with each body changed."""
    return replace(tree, bodies=tuple(replace(body, **changes) for body in tree.bodies))


@pytest.mark.parametrize('option', ['damping', 'friction', 'armature'])
def test_other_values_of_friction_and_rotors_compile_nothing(option, compilations, traces):
    tree = with_bodies(Robot.from_urdf(ARM).tree, damping=0.0)
    efforts = []
    for value in (0.5, 0.25, 2.0):
        other = with_bodies(tree, **{option: value})
        efforts.append(Robot(other, engine='compiled').inverse_dynamics(*STATE))
        np.testing.assert_allclose(efforts[-1], Robot(other).inverse_dynamics(*STATE), rtol=1e-13)
    assert compilations.call_count == traces.call_count == 1
    assert len(np.unique(efforts, axis=0)) == 3


def test_an_option_more_is_compiled_once(compilations):
    bare = robot()
    wrench = np.zeros((2, 6))
    for count, call in enumerate((
            lambda: bare.inverse_dynamics(*STATE),
            lambda: bare.with_payload('load', 'tool', Inertial(1.0)).inverse_dynamics(*STATE),
            lambda: bare.with_payload('load', 'upper', Inertial(1.0)).inverse_dynamics(*STATE),
            lambda: bare.inverse_dynamics(*STATE, f_ext=wrench),
            lambda: bare.inverse_dynamics(*BATCH)), start=1):
        call()
        call()
        assert compilations.call_count == count


def test_option_that_a_quantity_does_not_feel_compiles_nothing(compilations):
    bare = robot()
    bare.jacobian(STATE[0], 'tool')
    loaded = bare.with_payload('load', 'tool', Inertial(1.0))
    loaded.jacobian(STATE[0], 'tool')
    assert compilations.call_count == 1


def test_what_is_loaded_serves_with_other_payloads_and_gravity(loads):
    bare = robot()
    loaded = bare.with_payload('load', 'tool', Inertial(1.0))
    for arm in (bare, loaded, loaded.without_payload('load'), bare.with_gravity((0.0, 0.0, -1.6)),
                loaded.with_payload('load', 'tool', Inertial(2.0))):
        arm.inverse_dynamics(*STATE)
    assert loads.call_count == 2


# --- found again

PROGRAM = """
import sys
sys.path.insert(0, 'test/support')
from ros2_rnea import ArgumentError, Robot
from ros2_rnea.kernels import compiled, machine
from small_robots import ARM
if sys.argv[1:] == ['hit']:
    compiled.trace = machine.compile_object = None
robot = Robot.from_urdf(ARM, engine='compiled')
state = [0.3, -0.4], [0.5, 0.6], [0.7, 0.8]
batch = ([vector] * 20 for vector in state)
print(*robot.inverse_dynamics(*state), *robot.inverse_dynamics(*batch)[7])
"""


def test_other_process_finds_what_one_has_compiled(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, '-c', PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, 'XDG_CACHE_HOME': str(tmp_path)})

    assert 'not callable' in run('hit').stderr  # there is nothing yet
    first = run()
    assert first.returncode == 0, first.stderr
    second = run('hit')
    assert second.returncode == 0, second.stderr
    assert second.stdout == first.stdout


def test_damaged_code_is_made_again(tmp_path, monkeypatch, compilations):
    folder = tmp_path / 'cache'
    monkeypatch.setattr(compiled, 'cache', lambda: ObjectCache(folder))
    effort = robot().inverse_dynamics(*STATE).tolist()
    file, = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-100] + bytes(100))
    assert robot().inverse_dynamics(*STATE).tolist() == effort
    assert compilations.call_count == 2


# --- the key

BODY = Inertial(2.0, Pose((0.1, -0.2, 0.3)), (0.11, 0.01, -0.02, 0.12, 0.03, 0.13))
LEADER = JointDescription(
    'leader', JointType.REVOLUTE, parent='base', child='upper', axis=(0.0, 0.6, 0.8),
    origin=Pose((0.3, 0.2, 0.1), (0.5, -0.4, 0.3)))
FOLLOWER = JointDescription(
    'follower', JointType.HELICAL, parent='upper', child='lower', pitch=0.1,
    mimic=Mimic('leader', 2.0, 0.5), origin=Pose((0.1, 0.2, 0.3)))
SCREW = RobotDescription(
    'screw', (LinkDescription('base'), LinkDescription('upper', BODY),
              LinkDescription('lower', BODY)), (LEADER, FOLLOWER))
"""All that a joint can be told."""


def changed(**changes):
    """Return a change of a description's last joint."""
    def change(description):
        *joints, last = description.joints
        return replace(description, joints=(*joints, replace(last, **changes)))
    return change


def with_other_inertia(description):
    *links, last = description.links
    inertial = replace(last.inertial, mass=last.inertial.mass * (1.0 + 1e-15))
    return replace(description, links=(*links, replace(last, inertial=inertial)))


def with_other_names(description):
    joints = tuple(replace(joint, name=f'other {joint.name}', mimic=joint.mimic and replace(
        joint.mimic, joint=f'other {joint.mimic.joint}')) for joint in description.joints)
    return replace(description, name='other', joints=joints)


COUNTS = {
    'placement': changed(origin=Pose((0.1, 0.2, 0.3 + 1e-16))),
    'orientation': changed(origin=Pose((0.1, 0.2, 0.3), (1e-9, 0.0, 0.0))),
    'axis': changed(axis=(0.0, 1e-8, 1.0)),
    'type': changed(type=JointType.PRISMATIC, pitch=0.0),
    'pitch': changed(pitch=0.3),
    'multiplier': changed(mimic=Mimic('leader', 3.0, 0.5)),
    'offset': changed(mimic=Mimic('leader', 2.0, 3.0)),
    'independent': changed(mimic=None),
    'inertia': with_other_inertia,
}
DOES_NOT_COUNT = {
    'names': with_other_names,
    'limits': changed(limits=JointLimits(-1.0, 1.0, 7.0, 7.0)),
    'damping': changed(damping=0.7),
    'friction': changed(friction=0.7),
    'friction offset': changed(friction_offset=0.7),
    'rotor': changed(rotor_inertia=0.7, gear_ratio=3.0),
}


@pytest.mark.parametrize('change', COUNTS.values(), ids=COUNTS)
def test_what_counts_is_in_the_key(change):
    assert signature(build_tree(change(SCREW))) != signature(build_tree(SCREW))


@pytest.mark.parametrize('change', DOES_NOT_COUNT.values(), ids=DOES_NOT_COUNT)
def test_what_does_not_count_is_not_in_the_key(change):
    assert signature(build_tree(change(SCREW))) == signature(build_tree(SCREW))


@pytest.mark.parametrize('description', [SCREW, parse_urdf(ARM), parse_urdf(FREE_FLYER)])
def test_tree_from_another_process_takes_its_code(description):
    tree = build_tree(description)
    theirs = pickle.loads(pickle.dumps(tree))
    assert signature(theirs) == signature(tree)
    for kernels in (CompiledKernels, TapeKernels):
        ours, other = (Robot(each, kernels=kernels(each))
                       for each in (tree, theirs))
        ours.load_machine_code(['friction'], other.machine_code('friction'))


def test_loaded_kernels_serve_a_successor_without_being_loaded_again(loads):
    tree = build_tree(parse_urdf(ARM))
    first = CompiledKernels(tree)
    before = Robot(tree, kernels=first)
    code = before.machine_code('gravity', 'friction')
    before.load_machine_code(['gravity'], code[:1])
    loads.reset_mock()
    after = Robot(tree, kernels=first.successor())
    after.load_machine_code(['gravity', 'friction'], code)
    assert loads.call_count == 1  # friction
    with pytest.raises(CompilerError, match='are no object file of gravity'):
        after.load_machine_code(['gravity'], code[1:])
    expected = before.gravity(STATE[0])
    del before, first  # what is shared stays
    np.testing.assert_array_equal(after.gravity(STATE[0]), expected)


def test_a_successor_loads_kernels_where_those_before_have_gone(loads):
    tree = build_tree(parse_urdf(ARM))
    first = CompiledKernels(tree)
    before = Robot(tree, kernels=first)
    code, expected = before.machine_code('gravity'), before.gravity(STATE[0])
    gone, after = weakref.ref(first), Robot(tree, kernels=first.successor())
    del before, first
    gc.collect()
    assert gone() is None  # no chain of all that there have been
    loads.reset_mock()
    after.load_machine_code(['gravity'], code)
    assert loads.call_count == 1
    np.testing.assert_array_equal(after.gravity(STATE[0]), expected)


class FullCache:
    """Has something under every key, and remembers what it was asked for."""

    refused = ()
    reason = None

    def __init__(self):
        self.keys = []
        self._code = machine.compile_object('\n'.join(
            f'define i64 @{name}() {{ ret i64 0 }}' for name in ('one', 'rows')))

    def get(self, key):
        self.keys.append(key)
        return self._code


@pytest.fixture
def full_cache(monkeypatch):
    cache = FullCache()
    monkeypatch.setattr(compiled, 'cache', lambda: cache)
    return cache


def test_every_kernel_has_a_key_of_its_own(full_cache):
    trees = [Robot.from_urdf(text, floating, massless_links=['base']).tree
             for text in (ARM, ARM_WITH_GRIPPER) for floating in (False, True)]
    variants = [Variant(), *(Variant((name,)) for name in JOINT_PARAMETERS),
                Variant(payloads=(0,)), Variant(payloads=(1,)), Variant(payloads=(0, 1)),
                Variant(wrenches=True)]
    asked = [*BY_NAME.values(), quantities.link_jacobian('upper'),
             quantities.world_jacobian('upper'), quantities.link_jacobian('lower')]
    kernels = 0
    for tree in trees:
        for quantity in asked:
            for variant in {variant.relevant_to(quantity) for variant in variants}:
                for function in ('one', 'rows'):
                    CompiledKernels(tree).kernel(function, quantity, variant)
                    kernels += 1
    assert len(set(full_cache.keys)) == len(full_cache.keys) == kernels


def test_cpu_and_versions_are_in_the_key(full_cache, monkeypatch):
    tree, (triple, *_) = Robot.from_urdf(ARM).tree, machine.identity(machine.host())
    for module, name, value in (
            (compiled, 'VERSION', 'another'),
            (machine, 'identity', lambda *_: (triple, 'another'))):
        CompiledKernels(tree).kernel('one', *ONE)
        CompiledKernels(tree).kernel('one', *ONE)
        monkeypatch.setattr(module, name, value)
        CompiledKernels(tree).kernel('one', *ONE)
    one, same, other, again, _, another = full_cache.keys
    assert one == same and other == again and len({one, other, another}) == 3


def test_version_changes_with_each_module_that_kernels_are_made_by(tmp_path):
    package = tmp_path / 'ros2_rnea'
    shutil.copytree(ROOT / 'ros2_rnea', package, ignore=shutil.ignore_patterns('__pycache__'))
    assert code_version(package, SOURCES) == VERSION
    (package / 'kernels' / 'one' / 'more').mkdir(parents=True)
    for name in ('spatial', 'kernels/llvm', 'kernels/sine', 'model/reduction', 'dynamics/rnea',
                 'kernels/one/__init__', 'kernels/one/writer', 'kernels/one/more/__init__',
                 'kernels/one/more/rules'):
        before = code_version(package, SOURCES)
        (package / f'{name}.py').write_text('# something else', encoding='utf-8')
        assert code_version(package, SOURCES) != before
    before = code_version(package, SOURCES)
    (package / 'robot.py').write_text('# something else', encoding='utf-8')
    (package / 'kernels' / 'notes.txt').write_text('something else', encoding='utf-8')
    assert code_version(package, SOURCES) == before


@pytest.mark.slow
def test_package_installed_as_bytecode_alone_compiles_robots(tmp_path):
    package = tmp_path / 'ros2_rnea'
    shutil.copytree(ROOT / 'ros2_rnea', package, ignore=shutil.ignore_patterns('__pycache__'))
    assert compileall.compile_dir(package, quiet=2, legacy=True)
    for source in package.rglob('*.py'):
        source.unlink()
    program = PROGRAM.replace("'test/support'", repr(str(ROOT / 'test' / 'support')))
    result = subprocess.run(
        [sys.executable, '-c', program], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, 'XDG_CACHE_HOME': str(tmp_path), 'PYTHONPATH': str(tmp_path)})
    assert result.returncode == 0, result.stderr
    version = code_version(package, SOURCES)
    assert version != VERSION
    (package / 'dynamics' / 'rnea.pyc').write_bytes(b'something else')
    assert code_version(package, SOURCES) != version


def test_first_calls_at_once_compile_once(compilations):
    arm = robot()
    efforts = together(*[lambda: arm.inverse_dynamics(*STATE)] * 8)
    assert compilations.call_count == 1
    np.testing.assert_allclose(
        efforts, [Robot.from_urdf(ARM).inverse_dynamics(*STATE)] * 8, rtol=1e-13)


@pytest.fixture
def compiling(monkeypatch):
    """Return a function that starts a compilation, which lasts until the test is over."""
    started, is_over, threads = Event(), Event(), []
    compile_object = machine.compile_object

    def lasting(*arguments):
        started.set()
        assert is_over.wait(PATIENCE)
        return compile_object(*arguments)

    def start(call):
        monkeypatch.setattr(machine, 'compile_object', lasting)
        threads.append(Thread(target=call))
        threads[-1].start()
        assert started.wait(PATIENCE)

    yield start
    monkeypatch.undo()
    is_over.set()
    for thread in threads:
        thread.join(PATIENCE)


@pytest.mark.parametrize('use', [
    lambda arm: arm.with_gravity((0.0, 0.0, -1.0)).inverse_dynamics(*STATE),
    lambda arm: arm.inverse_dynamics(*STATE, gravity=(0.0, 0.0, -1.0)),
    lambda arm: arm.inverse_dynamics(*BATCH, gravity=(0.0, 0.0, -1.0))[0],
    lambda arm: arm.bind('inverse_dynamics', *STATE, out=np.empty(2))(),
], ids=['robot with the same kernels', 'gravity', 'gravity of a batch', 'bound'])
def test_loaded_kernel_does_not_wait_for_the_compilation_of_another(
        compiling, use, monkeypatch):
    arm = robot()
    expected = use(arm)
    compiling(lambda: arm.compile('coriolis_matrix'))
    # LLVM itself would let nobody call it now.
    monkeypatch.setattr(machine.llvm.ExecutionEngine, 'get_function_address', None)
    result, = together(lambda: use(arm))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.filterwarnings('ignore:.*multi-threaded:DeprecationWarning')
@pytest.mark.skipif(not hasattr(os, 'fork'), reason='processes are not forked here')
def test_loaded_kernel_computes_after_a_fork_during_a_compilation(compiling):
    arm = robot()
    arm.inverse_dynamics(*STATE)
    compiling(lambda: arm.compile('coriolis_matrix'))
    child = os.fork()
    if child == 0:
        try:
            arm.with_gravity((0.0, 0.0, -1.0)).inverse_dynamics(*STATE)
            os._exit(0)
        finally:
            os._exit(1)
    ended = []
    try:
        until(lambda: ended.append(os.waitpid(child, os.WNOHANG)) or ended[-1][0])
    finally:
        if not ended or not ended[-1][0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert ended[-1][1] == 0


def test_code_of_a_kernel_is_loaded_while_it_is_compiled(compiling):
    tree = Robot.from_urdf(ARM).tree
    code = robot().machine_code('gravity')
    arm = Robot(tree, engine='compiled', kernels=CompiledKernels(tree, ObjectCache(None)))
    compiling(lambda: arm.compile('gravity'))
    effort, = together(lambda: arm.load_machine_code(['gravity'], code) or arm.gravity(STATE[0]))
    np.testing.assert_allclose(effort, Robot(tree).gravity(STATE[0]), rtol=1e-13)


def test_different_kernels_are_compiled_at_once(monkeypatch):
    compile_object, both = machine.compile_object, Barrier(2, timeout=PATIENCE)

    def both_at_once(*arguments):
        both.wait()
        return compile_object(*arguments)

    monkeypatch.setattr(machine, 'compile_object', both_at_once)
    arm = robot()
    together(lambda: arm.gravity(STATE[0]), lambda: arm.mass_matrix(STATE[0]))


@pytest.mark.parametrize('rows', [None, 20, 5000])  # the last lets go of the GIL
def test_threads_may_call_at_once(rows):
    arm, textbook = robot(), Robot.from_urdf(ARM)
    states = [[factor * (vector if rows is None else np.tile(vector, (rows, 1)))
               for vector in STATE] for factor in range(8)]

    def call(state):
        def many():
            outs = [np.empty_like(state[0]) for _ in range(3)]
            for turn in range(60):
                arm.inverse_dynamics(*state, out=outs[turn % 3])
                arm.mass_matrix(state[0])
            return outs
        return many

    for state, outs in zip(states, together(*map(call, states))):
        for out in outs:
            np.testing.assert_allclose(out, textbook.inverse_dynamics(*state), rtol=1e-12)


def test_robots_may_be_compiled_at_once():
    trees = [with_bodies(Robot.from_urdf(ARM).tree, offset=number / 4.0) for number in range(8)]
    efforts = together(*[
        lambda tree=tree: Robot(tree, engine='compiled').inverse_dynamics(*STATE)
        for tree in trees])
    for tree, effort in zip(trees, efforts):
        np.testing.assert_allclose(effort, Robot(tree).inverse_dynamics(*STATE), rtol=1e-12)


# --- compiled beforehand, and for other CPUs

KERNELS = ('inverse_dynamics', 'gravity', 'effort_terms')


def test_each_compilation_is_announced_before_it_and_none_after_that(compilations):
    announced = []
    robot().machine_code(*KERNELS, on_compile=lambda kernel: announced.append(
        (kernel, compilations.call_count)))
    count = len(announced)
    assert count == compilations.call_count == 9
    assert [(kernel.number, kernel.total, made) for kernel, made in announced] == [
        (number, count, number - 1) for number in range(1, count + 1)]
    assert announced[0][0].quantity == 'inverse_dynamics'
    robot().machine_code(*KERNELS, on_compile=announced.append)
    assert len(announced) == compilations.call_count == count


@pytest.fixture
def another_cpu(monkeypatch):
    """Return a function that replaces the CPU of this machine by another with these features."""
    host = machine.host()

    def replace_host(cpu='another', features=host.features):
        other = replace(host, cpu=cpu, features=features)
        monkeypatch.setattr(machine, 'host', lambda: other)
    return replace_host


def shipped(store, place=0):
    """Compile a robot for CPUs like this one, or for even more of them."""
    tree = Robot.from_urdf(ARM).tree
    kernels = CompiledKernels(tree, store, machine.portable(machine.host())[place])
    Robot(tree, engine='compiled', kernels=kernels).machine_code(*KERNELS)


@pytest.mark.parametrize('place', [0, -1])
def test_portable_kernels_are_used_on_another_cpu(
        empty_cache, another_cpu, compilations, place):
    shipped(empty_cache, place)
    before = compilations.call_count
    another_cpu()
    arm, expected = robot(), Robot.from_urdf(ARM, engine='textbook')
    np.testing.assert_allclose(
        arm.inverse_dynamics(*STATE), expected.inverse_dynamics(*STATE), rtol=1e-13)
    arm.machine_code(*KERNELS)
    assert compilations.call_count == before
    arm.inverse_dynamics(*BATCH)  # rows are compiled for the width of this CPU
    assert compilations.call_count == before + 1


@pytest.mark.skipif(machine.available() and machine.host().width < 4, reason='no AVX2 here')
def test_portable_kernels_are_not_used_without_their_features(
        empty_cache, another_cpu, compilations):
    shipped(empty_cache)
    before = compilations.call_count
    another_cpu('x86-64', '+sse2')
    robot().machine_code('gravity')
    assert compilations.call_count == before + 1


def test_for_a_given_cpu_only_its_own_kernels_count(empty_cache, compilations):
    tree, host = Robot.from_urdf(ARM).tree, machine.host()
    shipped(empty_cache)
    before = compilations.call_count
    store = ObjectCache(None)
    for target in (host, *machine.portable(host)):
        kernels = CompiledKernels(tree, store, target)
        Robot(tree, engine='compiled', kernels=kernels).machine_code('gravity')
    assert compilations.call_count == before + 1 + len(machine.portable(host))
