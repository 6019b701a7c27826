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
from pathlib import Path
import signal
import sys
from traceback import extract_tb

from ros2_rnea.errors import printable_lines, RneaError

Main = Callable[..., int]

INTERNAL_ERROR = 3
"""The exit code after a defect of the program itself; no other end of a program has it."""


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


def interrupted(name: str) -> int:
    """Say that somebody has ended a program by Ctrl-C; return the exit code that a shell gives."""
    print(f'\n{name}: interrupted', file=sys.stderr)
    return 128 + signal.SIGINT


def command(name: str, failed: int) -> Callable[[Main], Main]:
    """
    Return a decorator for a program that says its errors in one line, and shows no traceback.

    It also :func:`ends_with_its_reader`.

    :param name: of the program, for errors.
    :param failed: the exit code after an error of what it was given; INTERNAL_ERROR is that after
        a defect of its own.
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
            except KeyboardInterrupt:
                return interrupted(name)
            except BrokenPipeError:
                raise
            except OSError as error:  # a full disk, a folder of somebody else
                print(f'{name}: {error}', file=sys.stderr)
                return failed
            except Exception as error:  # noqa: BLE001 (no defect may look like a doubt)
                frame = extract_tb(error.__traceback__)[-1]
                print(f'{name}: internal error, a defect of this program: '
                      f'{type(error).__name__}: {error} ({Path(frame.filename).name}, line '
                      f'{frame.lineno}); please report it with what it was given',
                      file=sys.stderr)
                return INTERNAL_ERROR
        return program
    return decorated
