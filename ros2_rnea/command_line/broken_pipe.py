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
"""The end of a command whose output is no longer read, as in ``check_model robot.urdf | head``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
import os
import signal
import sys

Main = Callable[..., int]


def ends_with_its_reader(main: Main) -> Main:
    """
    Return a program that ends without a word when nobody reads its output any more.

    Its exit code is then the one that a shell gives to a program that SIGPIPE ended.
    """
    @wraps(main)
    def program(arguments: Sequence[str] | None = None) -> int:
        try:
            code = main(arguments)
            sys.stdout.flush()
        except BrokenPipeError:
            # What is left in the buffer goes nowhere; otherwise Python complains as it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE
        return code
    return program
