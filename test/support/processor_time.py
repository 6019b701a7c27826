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
Bounds of the processor time that something takes, on a machine of any speed.

A virtual machine charges a thread for what its host does meanwhile.  Therefore a bound counts for
a machine of known speed, is wider on one that is slower now, and a test whose bound was exceeded
is repeated: it fails only if the bound is exceeded each time.
"""

from __future__ import annotations

from time import thread_time

import pytest

REFERENCE = 0.005
"""How long :func:`_work` takes on the machine that the bounds are meant for [s]."""


class TooSlowError(AssertionError):
    """Something took longer than it may."""


REPEATED_WHERE_TOO_SLOW = pytest.mark.flaky(reruns=2, only_rerun=TooSlowError.__name__)
"""Marks a test that raises :class:`TooSlowError`."""


def check_processor_times(taken, longest):
    """
    Check that nothing took longer than it may.

    :param taken: Processor time by what took it [s].
    :param longest: What each may take on a machine that does the reference work in REFERENCE [s].
    :raises TooSlowError: with what took longer.
    """
    slow = {name: time for name, time in taken.items() if time > longest}
    if slow and max(slow.values()) > longest * max(1.0, _work() / REFERENCE):
        raise TooSlowError(slow)


def _work():
    """Do some work that is always the same, and return its processor time [s]."""
    began = thread_time()
    texts = {}
    for number in range(20_000):
        texts[str(number)] = len(texts)
    return thread_time() - began
