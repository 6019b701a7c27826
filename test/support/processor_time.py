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
Bounds of the processor time that something takes.

A virtual machine charges a thread for what its host does meanwhile.  Therefore a test whose bound
was exceeded is repeated, and fails only if it is exceeded each time.
"""

from __future__ import annotations

import pytest


class TooSlowError(AssertionError):
    """Something took longer than it may."""


REPEATED_WHERE_TOO_SLOW = pytest.mark.flaky(reruns=2, only_rerun=TooSlowError.__name__)
"""Marks a test that raises :class:`TooSlowError`."""
