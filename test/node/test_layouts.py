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
"""The layouts for PlotJuggler and Foxglove: each topic and field in them is there."""

from __future__ import annotations

from collections.abc import Iterator
import json
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from repository import ROOT
from ros2_rnea.control.decision import SentTerms

EffortTerms = pytest.importorskip('ros2_rnea_interfaces.msg').EffortTerms

PLOTJUGGLER = ElementTree.parse(ROOT / 'config' / 'terms.plotjuggler.xml').getroot()
FOXGLOVE = json.loads((ROOT / 'config' / 'terms.foxglove.json').read_text(encoding='utf-8'))
JOINTS = range(7)


def panels(layout: Any) -> Iterator[str]:
    """Return the panels in a layout of Foxglove."""
    if isinstance(layout, str):
        yield layout
    else:
        assert layout['direction'] in ('row', 'column')
        yield from panels(layout['first'])
        yield from panels(layout['second'])


def curves() -> dict[str, list[tuple[str, str, int]]]:
    """Return the topic, field and index of each curve, by program."""
    names = {
        'PlotJuggler': [
            re.fullmatch(r'(/.+)/(\w+)\[(\d+)\]', curve.attrib['name'])
            for curve in PLOTJUGGLER.iter('curve')],
        'Foxglove': [
            re.fullmatch(r'(/.+)\.(\w+)\[(\d+)\]', path['value'])
            for panel in FOXGLOVE['configById'].values() for path in panel['paths']]}
    assert all(all(found) for found in names.values())
    return {program: [(topic, field, int(index)) for topic, field, index in (
        match.groups() for match in found)] for program, found in names.items()}


CURVES = curves()


@pytest.mark.parametrize('program', CURVES)
def test_every_field_is_in_the_message(program):
    of_message = EffortTerms.get_fields_and_field_types()
    for _, field, index in CURVES[program]:
        assert of_message[field] in ('sequence<double>', 'sequence<boolean>')
        assert index in JOINTS


@pytest.mark.parametrize('program, left_out', [
    ('PlotJuggler', set()),
    ('Foxglove', {'saturated', 'rate_limited', 'restrained'})])
def test_every_term_of_every_joint_has_a_curve(program, left_out):
    shown = {(field, index) for _, field, index in CURVES[program]}
    assert shown == {
        (field, index) for field in {*SentTerms._fields} - left_out for index in JOINTS}


def test_the_subscriber_of_plotjuggler_is_told_the_topic():
    subscriber = PLOTJUGGLER.find('Plugins/plugin')
    assert subscriber.attrib['ID'] == 'ROS2 Topic Subscriber'
    assert subscriber.find('selected_topics').attrib['value'] == CURVES['PlotJuggler'][0][0]


def test_splitters_of_plotjuggler_have_as_many_plots_as_stated():
    for splitter in PLOTJUGGLER.iter('DockSplitter'):
        assert len(splitter) == int(splitter.attrib['count'])
        assert len(splitter.attrib['sizes'].split(';')) == len(splitter)


def test_foxglove_shows_every_panel_once():
    assert sorted(panels(FOXGLOVE['layout'])) == sorted(FOXGLOVE['configById'])


@pytest.mark.ros
def test_the_topic_is_that_of_the_node(bench):
    arm = bench(joints=['shoulder', 'elbow'])
    terms = arm.node.resolve_topic_name('~/terms')
    arm.until(lambda: arm.peer.get_publishers_info_by_topic(terms))
    publisher, = arm.peer.get_publishers_info_by_topic(terms)
    assert publisher.topic_type == 'ros2_rnea_interfaces/msg/EffortTerms'
    without_namespace = terms.removeprefix(arm.node.get_namespace())
    for program in CURVES.values():
        assert {topic for topic, _, _ in program} == {without_namespace}
