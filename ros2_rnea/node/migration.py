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
Parameters of earlier versions: which are gone or take other values, and what to write instead.

Where the arm could be less safe with what replaces them, the node sends nothing and says what to
write.  Otherwise it warns.  :func:`table` returns all of them as text, for the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ros2_rnea.control.settings import LARGEST_ASSISTANCE


class Former(NamedTuple):
    """
    A parameter of an earlier version, or some of its values.

    :ivar name: of the parameter.
    :ivar values: a text that says which values are gone; empty: the parameter itself is gone.
    :ivar instead: what to write.
    :ivar why: the reason.
    :ivar replaced_by: the parameter that has to be set instead.
    :ivar matters: whether nothing is sent until somebody has corrected it.
    :ivar is_gone: tells whether a value is gone.
    :ivar use: returns the value that is used instead; None: the default.
    """

    name: str
    values: str
    instead: str
    why: str
    replaced_by: str
    matters: bool
    is_gone: Callable[[Any], bool] = lambda _: True
    use: Callable[[Any], Any] | None = None


def _is_too_much_assistance(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and LARGEST_ASSISTANCE < value <= 0.9


FORMER = (
    Former('on_stale_state', '', 'on_stop: gravity, or on_stop: zero',
           'on_stop is for all cases', 'on_stop', matters=True),
    Former('on_shutdown', '', 'on_stop: gravity, or on_stop: zero',
           'on_stop is for all cases', 'on_stop', matters=True),
    Former('on_stop', 'none', 'on_stop: gravity, or on_stop: zero',
           'the effort of a motion would be held, which drives the arm on', 'on_stop',
           matters=True, is_gone=lambda value: value == 'none'),
    Former('friction_assistance', f'above {LARGEST_ASSISTANCE:g}, up to 0.9',
           f'friction_assistance: {LARGEST_ASSISTANCE:g}',
           'a joint would move by itself where its friction is 30 % less than in the parameters',
           'friction_assistance', matters=False, is_gone=_is_too_much_assistance,
           use=lambda _: LARGEST_ASSISTANCE),
)
"""All parameters of earlier versions, and values, that are gone."""

NAMES = frozenset(former.name for former in FORMER if not former.values)
"""Names of the parameters that are gone, whatever their value."""


def former_value(name: str, value: Any) -> Former | None:
    """Return what is known of a value of a parameter that is gone; None where it is not gone."""
    return next((former for former in FORMER if (
        former.name == name and former.values and former.is_gone(value))), None)


class Migration:
    """
    What a file, or the command line, has of an earlier version.

    :param overrides: the parameters that it sets, by name; each has a ``value``.
    :ivar error: why nothing may be sent, and what to write; empty: nothing is against it.
    :ivar warnings: what else to write.
    """

    def __init__(self, overrides: Mapping[str, Any]) -> None:
        found = [former for former in FORMER if (
            former.name in overrides and former.is_gone(overrides[former.name].value))]
        wrong = [former for former in found if former.matters and (
            former.replaced_by == former.name or former.replaced_by not in overrides)]
        self.error = '' if not wrong else (
            f'the parameters are those of an earlier version: {_sentences(wrong)}. Nothing is '
            'sent until they are corrected and the node is started again')
        self.warnings = [
            f'a parameter is that of an earlier version: {_sentences([former])}'
            for former in found if former not in wrong]


def _sentences(formers: list[Former]) -> str:
    return '; '.join(
        f'there is no {_what(former)} any more ({former.why}): write   {former.instead}'
        for former in formers)


def _what(former: Former) -> str:
    return f'{former.name}: {former.values}' if former.values else former.name


def table() -> list[tuple[str, str, str]]:
    """Return all as text: what is gone, what to write instead, and what happens otherwise."""
    return [
        (_what(former), former.instead,
         'the node sends nothing' if former.matters else 'the node warns')
        for former in FORMER]
