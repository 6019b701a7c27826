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
"""config/inverse_dynamics.yaml contains what the node's table of parameters contains."""

import re

import pytest
from repository import ROOT
from ros2_rnea.feedforward.settings import Settings
from ros2_rnea.node.parameters import BY_NAME, read
import yaml

FILE = ROOT / 'config' / 'inverse_dynamics.yaml'


@pytest.fixture(scope='module')
def values():
    """Return the parameters in the file."""
    return yaml.safe_load(FILE.read_text())['/**']['ros__parameters']


def test_the_file_has_every_parameter_and_no_other(values):
    assert values.keys() == BY_NAME.keys()


def test_the_file_has_the_defaults(values):
    assert read(values).own == {name: spec.default for name, spec in BY_NAME.items()}
    assert read(values).settings == Settings()


def test_the_comment_above_a_parameter_is_its_description():
    comments, block = {}, []
    for line in map(str.strip, FILE.read_text().splitlines()):
        if line.startswith('#'):
            block.append(line[1:].strip())
            continue
        comments[line.partition(':')[0]] = re.sub(r'\s+', ' ', ' '.join(block)).replace('`', '')
        block = []
    for name, specification in BY_NAME.items():
        # Headings of sections stand directly above the first comment.
        assert re.sub('^-+ .* -+ ', '', comments[name]) == specification.description, name
