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
Write docs/robots.rst: what the audit finds in each robot of the package example-robot-data.

Run it where that package is installed: ``python docs/make_robots.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from textwrap import wrap

from ros2_rnea.errors import DescriptionError
from ros2_rnea.model.urdf import parse_urdf
from ros2_rnea.offline.audit import Examination, examine, Finding, Kind, Severity

OUTPUT = Path(__file__).parent / 'robots.rst'
FOLDER = 'share/example-robot-data/robots/'
SHOWN = 3
"""Up to this number, findings of one kind in one robot are shown in full; else their subjects."""

HEAD = """\
.. Written by docs/make_robots.py; changes to this file will be overwritten.

What the audit finds in real robots
===================================

This page lists what ``ros2 run ros2_rnea check_model`` finds in the {count} URDF files of the
Python package example-robot-data {version}.  The files are unchanged, and many are old: a finding
is about a file, not about a robot.  :doc:`check-model` explains each kind of finding and its
thresholds.

.. list-table:: Findings by kind
   :header-rows: 1
   :widths: 15 65 10 10

   * - severity
     - kind
     - findings
     - files
"""


def main() -> None:
    """Write the page."""
    package = distribution('example-robot-data')
    files = sorted(
        (str(file).split(FOLDER)[1], Path(str(package.locate_file(file))))
        for file in package.files or () if file.suffix == '.urdf')
    results = {name: _examined(path.read_text(encoding='utf-8')) for name, path in files}
    findings = {name: result.findings for name, result in results.items()
                if isinstance(result, Examination)}
    lines = [HEAD.format(count=len(files), version=package.version), *_summary(findings), '']
    sound = [name for name, found in findings.items()
             if all(finding.severity is Severity.NOTE for finding in found)]
    lines += _wrapped(f'{len(sound)} files have no findings but notes: '
                      + ', '.join(f'``{name}``' for name in sound) + '.')
    for name, result in results.items():
        lines += ['', name, '-' * len(name), '', *_section(result)]
    OUTPUT.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def _examined(text: str) -> Examination | DescriptionError:
    try:
        return examine(parse_urdf(text), text)
    except DescriptionError as error:
        return error


def _summary(findings: dict[str, tuple[Finding, ...]]) -> Iterator[str]:
    counts = Counter(finding.kind for found in findings.values() for finding in found)
    for kind in Kind:
        files = sum(any(f.kind is kind for f in found) for found in findings.values())
        yield f'   * - {kind.severity.name.lower()}\n     - {kind.title}\n     - {counts[kind]}'
        yield f'     - {files}'


def _section(result: Examination | DescriptionError) -> Iterator[str]:
    if isinstance(result, DescriptionError):
        yield from _wrapped(f'Not read: {_literal(str(result))}')
        return
    description = result.description
    yield (f'{len(description.links)} links, {len(result.robot.joint_names)} independent joints.')
    yield ''
    by_kind: dict[Kind, list[Finding]] = {}
    for finding in result.findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    for kind, found in by_kind.items():
        severity = kind.severity.name.lower()
        title = f'* {severity}' if kind.severity is Severity.NOTE else f'* **{severity}**'
        if len(found) <= SHOWN and kind.severity > Severity.NOTE:
            for finding in found:
                yield from _wrapped(f'{title}: {_literal(str(finding))}')
        else:
            names = ', '.join(_literal(name) for name in _names(found))
            yield from _wrapped(f'{title}: {kind.title} ({len(found)}): {names}')
    if not by_kind:
        yield 'No findings.'


def _names(found: list[Finding]) -> list[str]:
    return [finding.subject.split("'")[1] if "'" in finding.subject else finding.subject
            for finding in found]


def _literal(text: str) -> str:
    """Return text without characters that reStructuredText takes as markup."""
    for character in ('\\', '*', '`', '|', '_'):
        text = text.replace(character, '\\' + character)
    return text


def _wrapped(text: str) -> list[str]:
    indent = '  ' if text.startswith('* ') else ''
    return wrap(text, 99, subsequent_indent=indent, break_long_words=False,
                break_on_hyphens=False)


if __name__ == '__main__':
    main()
