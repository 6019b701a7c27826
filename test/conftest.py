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
Settings for all tests, made before any of them imports rclpy.

./run test shares the tests among processes, twice as many as there are processors.  Tests of nodes
and of programs wait half of their time: for discovery, for messages, or for the end of a fade.

ROS 2 of a test run stays on this machine and in a domain of its own, so that it never meets
another run, or a robot in the same network.  Each process of pytest-xdist has its own domain, and
the processes that its tests start inherit that.

Robots of tests are computed by the textbook unless a test says otherwise, because most live too
short a life to be compiled for; what is compiled is cached in a folder that all processes of a run
share, and that goes with it.

hypothesis draws the same examples in each run, and they may take any time: its default is to fail
where one takes more than 0.2 s, as it does where the machine pauses.  With the variable
DRAW_THOROUGHLY set, the examples are others each time.
"""

import atexit
import gc
import os
from pathlib import Path
import shutil
import sys
import tempfile

from hypothesis import HealthCheck, settings
import pytest

# Not pytest's own setting `pythonpath`, which the pytest of Ubuntu 22.04 does not have.
sys.path.insert(0, str(Path(__file__).parent / 'support'))
sys.path.append(str(Path(__file__).parents[1]))  # for benchmark/, which is not installed

ENGINE = 'ROS2_RNEA_ENGINE'
os.environ[ENGINE] = 'textbook'
if 'PYTEST_XDIST_WORKER' not in os.environ:  # else it is that of the process that started this one
    os.environ['XDG_CACHE_HOME'] = tempfile.mkdtemp(prefix='ros2_rnea_test_cache_')
    atexit.register(shutil.rmtree, os.environ['XDG_CACHE_HOME'], ignore_errors=True)

from ros2_rnea.node.transports import stay_on_this_machine  # noqa: E402
from ros2_rnea.tools.ros_domain import reserve_domain  # noqa: E402, after what it depends on

stay_on_this_machine()
os.environ['ROS_DOMAIN_ID'] = str(reserve_domain())

PROCESSES_PER_PROCESSOR, MAX_PROCESSES = 2, 16
"""More of them only collect the tests once more, and need memory."""

settings.register_profile(
    'repeatable', deadline=None, derandomize='DRAW_THOROUGHLY' not in os.environ, database=None,
    suppress_health_check=[HealthCheck.too_slow])
settings.load_profile('repeatable')


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Return how many processes share the tests, unless the variable of pytest-xdist tells."""
    if 'PYTEST_XDIST_AUTO_NUM_WORKERS' in os.environ:
        return None
    return min(PROCESSES_PER_PROCESSOR * len(os.sched_getaffinity(0)), MAX_PROCESSES)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """
    Let the garbage collector leave out all that exists before the first test, once and for all.

    It would examine the modules and the tests, a million of objects, again and again.
    """
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the longest tests where several processes share them: none is left at the end."""
    if 'PYTEST_XDIST_WORKER' in os.environ:
        items.sort(key=lambda item: (item.get_closest_marker('alone') is None,
                                     item.get_closest_marker('slow') is None))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Let no other process of this run test anything while one tests what needs the processor."""
    from turns import Turns

    run = os.environ.get('PYTEST_XDIST_TESTRUNUID')
    if run is None:
        yield
        return
    with Turns(Path(tempfile.gettempdir(), f'ros2_rnea_test_{run}')).turn(
            alone=item.get_closest_marker('alone') is not None):
        yield


@pytest.fixture(autouse=True)
def same_domain():
    """
    Check that a test leaves ROS in the domain of this run.

    Participants of later tests would otherwise be in another domain than those that exist, and
    wait for each other in vain.
    """
    before = os.environ['ROS_DOMAIN_ID']
    yield
    after, os.environ['ROS_DOMAIN_ID'] = os.environ.get('ROS_DOMAIN_ID'), before
    assert after == before


def pytest_configure(config):
    """
    Repeat a test once where a message never came, with pytest-rerunfailures.

    Fast DDS may lose messages between the nodes of one process, for good, while other tests kill
    processes that share its memory.  A node that never answers fails both times.
    """
    if config.pluginmanager.hasplugin('rerunfailures') and not config.option.reruns:
        config.option.reruns, config.option.only_rerun = 1, ['has not come in .* s']


@pytest.fixture(scope='module', params=['textbook', 'tape', 'compiled'])
def engine(request):
    """Give each engine in turn to the robots of a module."""
    if request.param == 'compiled':
        pytest.importorskip('llvmlite')
    elif request.param == 'tape':
        pytest.importorskip('ros2_rnea.kernels._call')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ENGINE, request.param)
        yield request.param


@pytest.fixture(scope='module')
def fastest_engine():
    """Give robots the engine that users have by default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(ENGINE)
        yield
