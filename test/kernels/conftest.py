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
"""A small kernel and both ways of calling it."""

import numpy as np
import pytest
from ros2_rnea.kernels.cache import open_cache
from ros2_rnea.kernels.entry import BuiltinEntries, Entries, open_entries
from tiny_kernel import tiny_kernel


@pytest.fixture(scope='session')
def kernel():
    return tiny_kernel()


@pytest.fixture(scope='session')
def any_entries():
    return open_entries(open_cache(environment={}))


@pytest.fixture
def builtin_entries(any_entries):
    if not isinstance(any_entries, BuiltinEntries):
        pytest.skip('this interpreter takes the safe way')
    return any_entries


@pytest.fixture(params=['builtin', 'in Python'])
def entries(request):
    """Return each of the two ways; the same is expected of both."""
    return Entries() if request.param == 'in Python' else request.getfixturevalue(
        'builtin_entries')


@pytest.fixture
def parameters():
    return np.array([10.0])


@pytest.fixture
def arrays():
    return np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), np.full(3, np.nan)
