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
"""Findings about the text of a URDF: what is not read, or not used."""

from __future__ import annotations

from collections.abc import Iterator

from ros2_rnea.errors import did_you_mean
from ros2_rnea.model.urdf import unread, unusable
from ros2_rnea.offline.audit.findings import Finding, Kind

OF_OTHERS = {'gazebo', 'material', 'transmission', 'ros2_control', 'loop_joint', 'constraint'}
"""Elements below ``<robot>`` that are known to say nothing about the dynamics of a tree."""


def text_findings(text: str) -> Iterator[Finding]:
    """Yield findings about values that are not used, then what is not read, in its order."""
    for where, said in unusable(text):
        yield Finding(Kind.UNUSABLE, where, said)
    unknown: dict[str, list[str]] = {}
    elements: list[str] = []
    for where, name, is_element, absent in unread(text):
        hint = did_you_mean(name, absent)
        if hint:
            shown = f'<{name}>' if is_element else f'an attribute {name}'
            yield Finding(Kind.MISSPELT, where, f'it has {shown}, which is not read{hint}')
        elif not is_element:
            unknown.setdefault(where, []).append(name)
        elif where == 'robot' and name not in OF_OTHERS:
            elements.append(f'<{name}>')
    for where, names in unknown.items():
        yield Finding(
            Kind.UNREAD, where, f'its attributes {", ".join(names)} are not read')
    if elements:
        yield Finding(
            Kind.UNREAD, 'robot',
            f'its elements {", ".join(dict.fromkeys(elements))} are not read')
