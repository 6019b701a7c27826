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
"""What all commands do where something goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
import os
import signal
import sys

from ros2_rnea.errors import printable_lines, RneaError

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


def command(name: str, failed: int) -> Callable[[Main], Main]:
    """
    Return a decorator for a program that says its errors in one line.

    It also :func:`ends_with_its_reader`.

    :param name: of the program, for errors.
    :param failed: the exit code after an error.
    """
    def decorated(main: Main) -> Main:
        @ends_with_its_reader
        @wraps(main)
        def program(arguments: Sequence[str] | None = None) -> int:
            try:
                return main(arguments)
            except RneaError as error:
                print(f'{name}: {printable_lines(str(error))}', file=sys.stderr)
                return failed
        return program
    return decorated
