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
"""What the thread that builds models is kept from, while a test looks at the node without it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from ros2_rnea.node.worker.model_worker import ModelWorker


@contextmanager
def answers_held() -> Iterator[None]:
    """Let no node receive a model that is built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelWorker, 'take', lambda _: None)
        yield


@contextmanager
def nothing_is_built() -> Iterator[None]:
    """Let each request for a model be a failure of the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ModelWorker, 'request', lambda *_: pytest.fail('something is built'))
        yield
