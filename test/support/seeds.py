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
"""Properties that are tested with many seeds: one test, which fails at the first that fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature


def for_seeds(count: int) -> Callable:
    """Run a test with each ``seed`` below a number; a failure shows it among the arguments."""
    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**arguments: object) -> None:
            for seed in range(count):
                test(seed=seed, **arguments)

        own = signature(test)
        run.__signature__ = own.replace(  # by which pytest knows the other arguments
            parameters=[each for each in own.parameters.values() if each.name != 'seed'])
        return run
    return decorate
