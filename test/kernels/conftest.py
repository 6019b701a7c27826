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
"""A small kernel and both types that call it."""

import numpy as np
import pytest
from ros2_rnea.kernels import call
from ros2_rnea.kernels.call import PythonKernelCall
from tiny_kernel import tiny_kernel


@pytest.fixture(scope='session')
def kernel():
    return tiny_kernel()


@pytest.fixture
def extension():
    """Return the type in C."""
    if call.KernelCall is PythonKernelCall:
        pytest.skip(f'the extension is not built here: {call.EXTENSION_ERROR}')
    return call.KernelCall


@pytest.fixture(params=['in C', 'in Python'])
def call_type(request):
    """Return each of the two types; the same is expected of both."""
    return PythonKernelCall if request.param == 'in Python' else request.getfixturevalue(
        'extension')


@pytest.fixture
def parameters():
    return np.array([10.0])


@pytest.fixture
def arrays():
    return np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), np.full(3, np.nan)
