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
"""The log: its lines, in which names from outside may stand, and its output, which may block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import fcntl
import os
import select
import shutil
import subprocess
import sys
from time import monotonic
from typing import Any

from rclpy.impl import rcutils_logger
from rclpy.impl.logging_severity import LoggingSeverity
from ros2_rnea.errors import shortened

PIPE_SIZE = 1 << 20
"""Size of the log that waits for a blocked output [byte]: the largest that Linux allows."""

LAST_LINES = 3.0
"""Longest time for which the end of the process waits for the last lines to be written [s]."""

COPY = """
trap '' HUP INT QUIT TERM
until cat || ! kill -0 "$PPID" 2>/dev/null; do sleep 1; done
"""
"""
The script for sh that copies the pipe to the output.

systemd sends SIGTERM to this process, too: without the trap, the last lines would be lost.  A cat
that cannot write ends, for example when the disk is full.  Another one follows, because there may
be room later.
"""


LONGEST_LINES = 20_000
"""The middle of what is logged at once is left out where it has more characters."""


class PrintableLogger(rcutils_logger.RcutilsLogger):
    """
    A logger whose lines hold nothing but printable characters.

    No name in a message can then begin a line that looks like one of this node, or change what a
    terminal shows.
    """

    def log(self, message: Any, severity: LoggingSeverity, **keywords: Any) -> bool:
        """Log a message; parameters are those of rclpy."""
        return super().log(shortened(str(message), LONGEST_LINES), severity, **keywords)


def fill_standard_descriptors() -> None:
    """
    Open those of the descriptors 0 to 2 that are closed on nothing.

    Where the node is started with one closed (``2>&-``), a socket of the middleware would get its
    number, and the log would be written into that.  The log is on /rosout then.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, descriptor)
            if nowhere != descriptor:
                os.close(nowhere)
            os.set_inheritable(descriptor, True)
    if sys.stderr is None:  # rclpy's events executor needs one
        sys.stderr = open(2, 'w', encoding='utf-8', closefd=False)


# A caller of the logger is then not looked for in this file.
getattr(rcutils_logger, '_internal_callers', []).append(os.path.realpath(__file__))


@contextmanager
def unblocked_log() -> Iterator[None]:
    """
    Let another process write the log: an output that blocks does not block this process.

    A terminal blocks after Ctrl-S, a pipe while nobody reads it, and a file while its disk does
    not answer.  rclpy writes each line in the thread that logs, and no other Python thread runs
    during this write.  The whole node would stand still, and a controller without a timeout would
    hold the last effort.

    In this context the log goes into a pipe that never blocks, and ``cat`` copies it to the
    output.  While the output blocks, the pipe takes :data:`PIPE_SIZE`; further lines are missing
    in the output, but not on /rosout.  Where ``cat`` cannot be started, the log is written as
    before.

    Afterwards the output is restored.  If it still blocks, what is written to it is discarded:
    the process can end.
    """
    output = 1 if os.environ.get('RCUTILS_LOGGING_USE_STDOUT') == '1' else 2
    redirection = None
    with suppress(OSError):
        redirection = _redirect(output)
    try:
        yield
    finally:
        if redirection is not None:
            original, copier = redirection
            os.dup2(original, output)
            os.close(original)
            deadline = monotonic() + LAST_LINES
            with suppress(subprocess.TimeoutExpired):
                copier.wait(LAST_LINES)
            _discard_unless_writable(output, deadline)


def _redirect(output: int) -> tuple[int, subprocess.Popen[bytes]]:
    """
    Put a pipe in the place of an output.

    :return: another descriptor of the output, and the process that copies the pipe to it.
    :raises OSError: where the output is closed, or the process cannot be started.
    """
    if shutil.which('cat') is None:
        raise FileNotFoundError('cat')
    original = os.dup(output)
    reading, writing = os.pipe()
    try:
        # In a session of its own, it gets no Ctrl-C, and ends with the last line of this process.
        copier = subprocess.Popen(
            ['sh', '-c', COPY], stdin=reading, stdout=original, start_new_session=True)
        os.set_blocking(writing, False)
        with suppress(OSError):  # a user may have filled his share with other pipes
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        os.dup2(writing, output)
    except OSError:
        os.close(original)
        raise
    finally:
        os.close(reading)
        os.close(writing)
    if os.isatty(original):  # which the log cannot find out any more
        os.environ.setdefault('RCUTILS_COLORIZED_OUTPUT', '1')
    return original, copier


def _discard_unless_writable(output: int, deadline: float) -> None:
    """Discard what is written to an output from now on, if it still blocks at a deadline."""
    ready = select.poll()
    ready.register(output, select.POLLOUT)
    if not ready.poll(1000.0 * max(deadline - monotonic(), 0.0)):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output)
        os.close(nowhere)
