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
"""What is read as XML, and what is refused before it can do harm."""

from pathlib import Path

import pytest
from ros2_rnea.errors import DescriptionError
from ros2_rnea.model import safe_xml
from ros2_rnea.model.safe_xml import read_xml

FIXTURES = Path(__file__).parent / 'urdf'


@pytest.mark.parametrize('declaration', [
    '',
    '<?xml version="1.0"?>',
    '<?xml version="1.0" encoding="utf-8" standalone="yes"?>',
    '<?xml version="1.0" encoding="latin-1"?>',
    '<?xml version="1.0" encoding="utf-16"?>',
    '<?xml version="1.0" encoding="no-such-encoding"?>',
    '\n\n  <?xml version="1.0"?>',
    '\ufeff<?xml version="1.0"?>\r\n',
])
def test_text_is_read_whatever_it_declares(declaration):
    root = read_xml(declaration + '<robot name="Käfer"><link/>für</robot>')
    assert root.tag == 'robot'
    assert root.attrib == {'name': 'Käfer'}
    assert [child.tag for child in root] == ['link']
    assert root[0].tail == 'für'


@pytest.mark.parametrize('text, tag', [
    ('<robot xmlns="http://example.org/default"/>', 'robot'),
    ('<xacro:include xmlns:xacro="http://www.ros.org/wiki/xacro"/>', 'xacro:include'),
    ('<undeclared:robot/>', 'undeclared:robot'),
])
def test_tags_stay_as_written(text, tag):
    assert read_xml(text).tag == tag


def test_comments_and_instructions_are_no_children():
    assert len(read_xml('<robot><!-- a --><?b c?><![CDATA[<d/>]]></robot>')) == 0


@pytest.mark.parametrize('text, message', [
    ('', 'is empty'),
    (' \n\t', 'is empty'),
    (b'<robot/>', 'must be text (str), not bytes'),
    (None, 'must be text (str), not NoneType'),
    ('/home/someone/robot.urdf', "'/home/someone/robot.urdf' is not XML; if it is the path of"),
    ('a > b' * 1000, "line 1, column 1, near 'a > b"),
    ('<robot>', 'no element found at line 1, column 8'),
    ('<robot>\n<link></robot>', "mismatched tag at line 2, column 9, near '<link></robot>'"),
    ('\n\n<robot>\n&', 'at line 4, column 1'),
    ('<robot>\r\r<', 'at line 3, column 1'),
    ('<robot/><robot/>', 'junk after document element'),
    ('<robot a="1" a="2"/>', 'duplicate attribute'),
    ('<robot>&undefined;</robot>', 'undefined entity'),
    ('<robot>\0</robot>', 'not well-formed'),
    ('\v<robot/>', 'not well-formed'),
    ('<robot name="\ud800"/>', 'surrogates not allowed at character 13'),
    ('<!DOCTYPE robot><robot/>', '<!DOCTYPE robot ...>'),
    ('<!DOCTYPE robot SYSTEM "file:///etc/passwd"><robot/>', 'remove it'),
])
def test_what_is_not_safe_xml_is_refused(text, message):
    with pytest.raises(DescriptionError) as error:
        read_xml(text)
    assert message in str(error.value)


def test_entities_are_refused_before_they_are_expanded():
    with pytest.raises(DescriptionError, match='could define entities'):
        read_xml((FIXTURES / 'entity_bomb.urdf').read_text(encoding='utf-8'))


def test_depth_is_bounded():
    def nested(depth):
        return '<a>' * depth + '</a>' * depth

    read_xml(nested(safe_xml.MAX_DEPTH))
    with pytest.raises(DescriptionError, match='more than 100 deep'):
        read_xml(nested(safe_xml.MAX_DEPTH + 1))


def test_depth_is_that_of_nesting_and_not_of_siblings():
    siblings = '<a/>' * (2 * safe_xml.MAX_DEPTH)
    assert len(read_xml(f'<robot>{siblings}</robot>')) == 2 * safe_xml.MAX_DEPTH


def test_the_number_of_elements_is_bounded(monkeypatch):
    monkeypatch.setattr(safe_xml, 'MAX_ELEMENTS', 3)
    read_xml('<robot><a/><b/></robot>')
    with pytest.raises(DescriptionError, match='more than 3 elements'):
        read_xml('<robot><a/><b/><c/></robot>')


def test_the_number_of_characters_is_bounded(monkeypatch):
    monkeypatch.setattr(safe_xml, 'MAX_CHARACTERS', 8)
    read_xml('<robot/>')
    with pytest.raises(DescriptionError, match='has 9 characters; 8 are the most'):
        read_xml('<robot />')
