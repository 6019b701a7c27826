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
"""Strategies for robot descriptions: mutations of an honest URDF."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from xml.etree import ElementTree

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

NUMBERS = ('nan', 'inf', '-inf', '1e308', '-1e308', '1e400', '5e-324', '0', '-1', '', ' ', 'one',
           '1_0', '1,5', '0x10', '1 2', '1 2 3 4', '-0.0')
TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar', 'spherical', '')
NONSENSE = ('', ' ', 'no xml', '<robot', '<robot/>', '<robot name="r"></robot>', '<a/>', '\ufeff',
            '<robot name="r"><link/></robot>', '<!DOCTYPE r [<!ENTITY a "a">]><robot name="&a;"/>')
REPEATED = ('<link name="a">', '<link name="a"/>', ' ', '<!-- -->', '&lt;', 'a="1" ')


def descriptions(urdf: str) -> SearchStrategy[str]:
    """Return a strategy for texts that are nearly a URDF, or not at all."""
    seeds = st.integers(0, 2 ** 32 - 1)
    at = st.integers(0, len(urdf))
    return st.one_of(
        st.builds(lambda seed, count: mutated(urdf, seed, count), seeds, st.integers(1, 3)),
        st.builds(lambda seed, count: mutated(urdf, seed, count), seeds, st.integers(1, 3)),
        at.map(lambda end: urdf[:end]),
        st.builds(lambda place, text: urdf[:place] + text + urdf[place:], at, st.sampled_from(
            ['<', '>', '"', '&', '&amp;', '<!--', '\ud7ff', 'x', '<link name="x"/>'])),
        st.sampled_from(NONSENSE),
        st.builds(lambda text, times: f'<robot name="r">{times * text}',
                  st.sampled_from(REPEATED), st.sampled_from([300, 30_000])))


def mutated(urdf: str, seed: int, count: int) -> str:
    """
    Return a URDF with some elements changed.

    :param seed: of the random choice.
    :param count: how many changes are made.
    """
    draw = Random(seed)
    root = ElementTree.fromstring(urdf)
    for _ in range(count):
        _mutate(root, draw)
    return ElementTree.tostring(root, encoding='unicode')


def _mutate(root: ElementTree.Element, draw: Random) -> None:
    parents = [(parent, child) for parent in root.iter() for child in parent]
    if not parents:
        return
    parent, element = draw.choice(parents)
    how = draw.randrange(7)
    if how == 0:
        parent.remove(element)
    elif how == 1:
        parent.insert(draw.randrange(len(parent) + 1), deepcopy(element))
    elif how == 2 and element.attrib:
        del element.attrib[draw.choice(sorted(element.attrib))]
    elif how == 3:
        element.tag = draw.choice(['link', 'joint', 'inertial', 'mimic', 'limit', 'no_such_tag'])
    elif how == 4:  # another name that the description has: duplicates, cycles, two parents
        names = sorted({each.attrib['name'] for each in root.iter() if 'name' in each.attrib})
        key = 'name' if 'name' in element.attrib else 'link'
        element.set(key, draw.choice([*names, '', 'x' * 5000]))
    elif how == 5 and 'type' in element.attrib:
        element.set('type', draw.choice(TYPES))
    elif element.attrib:
        key = draw.choice(sorted(element.attrib))
        words = element.attrib[key].split() or ['']
        words[draw.randrange(len(words))] = draw.choice(NUMBERS)
        element.set(key, ' '.join(words))
