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
"""The robots of example-robot-data, made ready for every engine: what is changed, and what not."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import distribution, PackageNotFoundError
from pathlib import Path
from xml.etree import ElementTree

from robot_data import FLOATING_BASE

PACKAGE = 'example-robot-data'


@dataclass(frozen=True)
class ExampleRobot:
    """
    A URDF of the package.

    :ivar name: its path in the package, folders that all have left out.
    :ivar text: the URDF, in which a joint with this package's name of the floating base is
        renamed.
    :ivar massless: links that move without any ``<inertial>``, one for each rigid group.
    """

    name: str
    text: str
    massless: tuple[str, ...]
    remarks: tuple[str, ...]


def example_robots():
    """Return all robots in the order of their names; none where the package is missing."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return []
    paths = sorted(Path(file.locate()) for file in files if file.suffix == '.urdf')
    return [_example_robot(path) for path in paths]


def _example_robot(path):
    folders = path.parts[path.parts.index('robots') + 1:]
    name = f'{folders[0]}/{folders[-1]}'.replace('_description', '').removesuffix('.urdf')
    text = path.read_text(encoding='utf-8')
    massless, remarks = massless_groups(text), []
    if massless:
        count = f'{len(massless)} links' if len(massless) > 1 else 'one link'
        remarks.append(f'{count} without inertia in massless_links: {", ".join(massless)}')
    taken = f'<joint name="{FLOATING_BASE}"'
    if taken in text:
        text = text.replace(taken, f'<joint name="{FLOATING_BASE}_of_the_file"')
        remarks.append(
            f'its fixed joint {FLOATING_BASE!r} is renamed, because this package uses that name')
    return ExampleRobot(name, text, massless, tuple(remarks))


def massless_groups(text):
    """Return the links that joints move and that, with all that is fixed to them, lack inertia."""
    robot = ElementTree.fromstring(text)
    with_inertia = {link.get('name') for link in robot.findall('link')
                    if link.find('inertial') is not None}
    fixed, carried, children = {}, [], set()
    for joint in robot.findall('joint'):
        parent, child = joint.find('parent').get('link'), joint.find('child').get('link')
        children.add(child)
        if joint.get('type') == 'fixed':
            fixed.setdefault(parent, []).append(child)
        else:
            carried.append(child)

    def has_inertia(link):
        return link in with_inertia or any(has_inertia(other) for other in fixed.get(link, ()))

    return tuple(link for link in carried if not has_inertia(link))
