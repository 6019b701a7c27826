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
"""What the node prints after --help: it names what the node has, as its security policy does."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from repository import ROOT

pytest.importorskip('rclpy')
from ros2_rnea.node.usage import USAGE, wants_help  # noqa: E402

POLICY = ROOT / 'config' / 'security'


@pytest.mark.ros
@pytest.mark.parametrize('module', ['inverse_dynamics_node', 'managed_node'])
def test_help_is_printed_and_nothing_is_started(module):
    done = subprocess.run(
        [sys.executable, '-m', f'ros2_rnea.node.{module}', '--help'],
        capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, USAGE, '')


@pytest.mark.parametrize('arguments, answer', [
    ([], False), (['--help'], True), (['-h'], True), (['-x', '-h'], True),
    (['--ros-args', '--help'], False), (['-h', '--ros-args', '-p', 'a:=1'], True)])
def test_help_is_asked_for_before_the_arguments_of_ros(arguments, answer):
    assert wants_help(arguments) is answer


def test_help_names_what_the_node_has():
    """The files of the security policy do, which test_security compares with the node."""
    allowed = ''.join((POLICY / name).read_text() for name in ('node.xml', 'services.xml'))
    private = set(re.findall('>(?:~|inverse_dynamics)/([a-z_]+)<', allowed))
    of_rclpy = {name for name in private if re.search('_parameter|type_desc', name)}
    of_rclpy.remove('model_parameters')
    assert set(re.findall('~/([a-z_]+)', USAGE)) == (private - of_rclpy) | {'commands'}
    received = next(iter(ElementTree.fromstring((POLICY / 'node.xml').read_bytes())))
    words = USAGE.split()
    assert [topic.text for topic in received if topic.text not in words] == []


def test_help_fits_a_terminal():
    assert max(map(len, USAGE.splitlines())) <= 99
