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
"""The errors that this package raises on purpose, all of them kinds of RneaError."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class RneaError(ValueError):
    """
    The root of all errors that ros2_rnea raises on purpose.

    A message names the element it is about, the value that was given and what would do.
    """


class DescriptionError(RneaError):
    """The robot description does not define a robot whose dynamics can be computed."""


class ModelWarning(UserWarning):
    """A description is read, but says something of the robot that dynamics leaves out."""


class ArgumentError(RneaError):
    """An argument of a call has a size, name or value that the robot at hand cannot use."""


class UnsafeChangeError(ArgumentError):
    """With a change, a robot that is being sent efforts would not be held any more."""


class TrajectoryError(RneaError):
    """A trajectory cannot be followed, for the reason that the message gives."""


class RecordingError(RneaError):
    """A recording cannot be read or used, for the reason that the message gives."""


class CompilerError(RneaError):
    """Machine code cannot be made or loaded, for the reason that the message gives."""


class MessageError(RneaError):
    """A message cannot be used; what it would have replaced remains in use."""


def counted(count: int, noun: str) -> str:
    """Return a number of things in words: ``1 joint``, ``2 joints``."""
    return f'{count} {noun}' if count == 1 else f'{count} {noun}s'


LONGEST_TEXT = 1000
"""More characters of a text about something that came from outside are not shown."""

LONGEST_NAME = 100
"""Names longer than this [characters] are not compared with similar ones."""


def printable(text: str) -> str:
    """
    Return a text in one line, in which each character that is not printable is escaped.

    Names come from outside.  A line break, also U+0085 or U+2028, would let one begin a line of
    its own, in a log as in a YAML file, and an escape sequence can change what a terminal shows.
    """
    if text.isprintable():
        return text
    return ''.join(each if each.isprintable() else each.encode('unicode_escape').decode()
                   for each in text)


def printable_lines(text: str) -> str:
    """
    Return a text whose lines are :func:`printable`, all but the first one indented.

    So no part of it looks like a line of somebody else.
    """
    return '\n  '.join(map(printable, text.split('\n')))


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a printable text whose middle is left out where it has too many characters."""
    if len(text) > most:
        half = most // 2
        text = f'{text[:half]} [...{len(text) - 2 * half} characters...] {text[-half:]}'
    return printable_lines(text)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint at the known name that is most like an unknown one, or nothing."""
    if len(name) > LONGEST_NAME:
        return ''
    close = get_close_matches(name, names, n=1)
    return f'; did you mean {close[0]!r}?' if close else ''
