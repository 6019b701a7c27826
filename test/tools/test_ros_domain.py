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
"""That each process which asks for a ROS domain gets one that nobody else uses."""

import os
from socket import AF_INET, SOCK_DGRAM, socket
import subprocess
import sys

import pytest
from ros2_rnea.tools import ros_domain
from ros2_rnea.tools.ros_domain import FIRST_PORT, OF_FIRST_PARTICIPANT, PORTS, reserve_domain

ASK = ('from ros2_rnea.tools.ros_domain import reserve_domain; '
       'print(reserve_domain(), flush=True)')


@pytest.fixture(autouse=True)
def reserved(monkeypatch):
    """Give back what a test has reserved, and return the sockets that reserve it."""
    reservations = []
    monkeypatch.setattr(ros_domain, '_reservations', reservations)
    yield reservations
    for reservation in reservations:
        reservation.close()


def test_the_tests_themselves_run_in_a_reserved_domain():
    own = int(os.environ['ROS_DOMAIN_ID'])
    assert own in ros_domain.DOMAINS
    assert own not in {reserve_domain() for _ in range(20)}


def test_no_two_processes_have_the_same_domain_while_both_live():
    asking = [subprocess.Popen(
        [sys.executable, '-c', f'{ASK}; input()'], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE) for _ in range(3)]
    given = [process.stdout.readline() for process in asking]
    for process in asking:
        process.communicate('')
    assert len({*map(int, given)}) == 3


def test_a_domain_is_free_again_once_its_process_has_ended(monkeypatch):
    answer = subprocess.run(
        [sys.executable, '-c', ASK], text=True, capture_output=True, check=True)
    domain = int(answer.stdout)
    monkeypatch.setattr(ros_domain, 'DOMAINS', [domain])
    assert reserve_domain() == domain
    with pytest.raises(OSError, match='all 1 ROS domains are in use'):
        reserve_domain()


def test_a_domain_with_a_participant_of_others_is_not_given(monkeypatch):
    first = reserve_domain()
    others = [domain for domain in ros_domain.DOMAINS if domain != first]
    monkeypatch.setattr(ros_domain, 'DOMAINS', [first, *others])
    monkeypatch.setattr(os, 'getpid', lambda: 0)  # so that the first one is tried first
    with socket(AF_INET, SOCK_DGRAM) as participant:
        participant.bind(('', FIRST_PORT + PORTS * first + OF_FIRST_PARTICIPANT))
        ros_domain._reservations.pop().close()
        assert reserve_domain() in others
