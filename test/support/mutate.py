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
How many small mistakes in a part of the package are noticed by its tests.

    ./run mutate control --sample 200

mutmut makes the mistakes, each with the tests that call the changed function.  It does not change
properties and constants of modules; what is a text for people is left out here.  It works in a
copy of the repository, out/mutation.
"""

from __future__ import annotations

import argparse
from collections import Counter
import json
import os
from pathlib import Path
from random import Random
import shutil
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = 'ros2_rnea'
COPY = ROOT / 'out' / 'mutation'
OUTCOMES = {0: 'survived', 1: 'noticed', 3: 'noticed', 33: 'called by none of the tests'}
"""What the codes of mutmut mean; others are those of a test that never ended, or crashed."""

TEXT = '^\\s*(raise \\w+\\()?f?[\'"][^\'"]* [^\'"]* '
"""A line that begins with a text of several words, as those for people do."""


def main() -> None:
    given = arguments()
    tests = given.tests or [f'test/{Path(given.part).parts[0]}']
    copy_repository()
    configure(given.part, tests)
    # A name that no mistake has: mutmut makes them, sees which tests call what, and ends.
    mutmut('run', 'none', stderr=subprocess.DEVNULL)
    names = sorted(outcomes())
    if not names:
        sys.exit(f'there are no mistakes to make in {given.part!r} of the package')
    chosen = set(Random(given.seed).sample(names, min(given.sample or len(names), len(names))))
    print(f'{len(chosen)} of {len(names)} mistakes', flush=True)
    mutmut('run', '--max-children', str(given.jobs), *sorted(chosen))
    codes = {name: outcome for name, outcome in outcomes().items() if name in chosen}
    if None in codes.values():
        sys.exit('not all were tried: do the tests pass without a mistake, also in any order?')
    for name in sorted(name for name, code in codes.items() if code == 0):
        mutmut('show', name)
    count = Counter(OUTCOMES.get(code, 'noticed late') for code in codes.values())
    print(', '.join(f'{number} {what}' for what, number in count.most_common()))


def outcomes() -> dict[str, int | None]:
    """Return how pytest has ended for each mistake, by the name of the mistake."""
    return {name: code for path in (COPY / 'mutants' / PACKAGE).rglob('*.meta')
            for name, code in json.loads(path.read_text())['exit_code_by_key'].items()}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='./run mutate', description=__doc__.split('\n\n')[0])
    parser.add_argument('part', help='a folder or file of the package, as control/signals.py')
    parser.add_argument('--tests', nargs='+', metavar='PATH',
                        help='by default the folder of test/ with the same name')
    parser.add_argument('--sample', type=int, default=200, help='how many mistakes; 0: all')
    parser.add_argument('--seed', type=int, default=1, help='another one draws other mistakes')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='processes at a time')
    return parser.parse_args()


def copy_repository() -> None:
    """Copy all files of the repository, and what of it is compiled."""
    shutil.rmtree(COPY, ignore_errors=True)
    listing = subprocess.run(
        ['git', 'ls-files', '-zco', '--exclude-standard'], cwd=ROOT, capture_output=True,
        check=True).stdout.decode()
    compiled = (str(path.relative_to(ROOT)) for path in (ROOT / PACKAGE).rglob('*.so'))
    for name in [*filter(None, listing.split('\0')), *compiled]:
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)


def configure(part: str, tests: list[str]) -> None:
    """Tell mutmut what to change and what to run; a test that bounds a time is left out."""
    part = Path(part).as_posix()
    others = sorted({path.name for path in COPY.iterdir()} - {PACKAGE})
    with (COPY / 'pyproject.toml').open('a') as file:
        file.write('\n'.join((
            '', '[tool.mutmut]', f'source_paths = ["{PACKAGE}"]',
            f'only_mutate = ["{PACKAGE}/{part}", "{PACKAGE}/{part}/*"]',
            f'also_copy = {json.dumps(others)}',
            f'do_not_mutate_patterns = {json.dumps([TEXT])}',
            f'pytest_add_cli_args_test_selection = {json.dumps([*tests, "-m", "not flaky"])}',
            'process_isolation = "forkserver"', '')))


def mutmut(*arguments: str, stderr: int | None = None) -> None:
    subprocess.run(
        [sys.executable, '-m', 'mutmut', *arguments], cwd=COPY, stderr=stderr, check=False)


if __name__ == '__main__':
    main()
