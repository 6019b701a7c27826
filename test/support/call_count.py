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
How many functions a piece of work calls: a measure of its cost that no busy machine changes.

It tells apart what is done once from what is done twice, and once for each joint; it says nothing
of the time, which ``benchmark/`` measures.
"""

from __future__ import annotations

import sys


def counting_calls(function, counts):
    """
    Return a function that does the same, and appends to ``counts`` how many calls that took.

    Functions of Python and of C count alike.
    """
    def counted(*arguments, **named):
        calls = 0

        def note(frame, event, argument):
            nonlocal calls
            calls += event in ('call', 'c_call')

        sys.setprofile(note)
        try:
            return function(*arguments, **named)
        finally:
            sys.setprofile(None)
            counts.append(calls)

    return counted
