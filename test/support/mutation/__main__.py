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
How many small mistakes in a folder of the package are noticed by its tests.

    ./run mutate feedforward --sample 300 --seed 1

This is a program of our own because mutmut 3 leaves out decorated functions (every property),
class bodies and constants of modules and draws no sample, and cosmic-ray starts a Python for each
mutant.

First all tests of the folder run once with coverage, which tells which tests execute which line;
those that bound a time (marked as flaky) are left out, as coverage takes more than they allow.
Then each mutant of the sample gets a process, forked from one that has imported everything except
the package, and a copy of the repository in which the mutant stands.  The tests that execute the
changed line run until one fails; for a line that is executed at import only, or of a file that
only other processes import, all tests of the files in which a test executes anything of its file,
or else all; for another line that no test executes, those that start processes, as these may.
Some runs are controls without a mistake: they should pass, and the number that fails tells how
often a kill may have had another reason.

Results are kept in out/mutation, so that an interrupted run goes on where it was.  A mutant that
was killed is not run again while its file is unchanged, a survivor not while the tests are
unchanged, too.  ``equivalent.yaml`` lists the mutants whose behaviour is the same, with a reason.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
import hashlib
from itertools import accumulate
import json
from math import inf
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mutation.child import measure, NO_TESTS, OK, run_tests, warm_up
from mutation.mutants import Mutant, mutants
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
import yaml

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = 'ros2_rnea'
OUT = ROOT / 'out' / 'mutation'
EQUIVALENT = Path(__file__).with_name('equivalent.yaml')

CONTROLS = 20
"""One run without a mistake for so many with one."""

OUTCOMES = {0: 'survived', 1: 'killed', 2: 'killed', -signal.SIGALRM: 'timeout'}
"""What the end of pytest means; 2 is an error while tests are collected, mostly at import."""


@dataclass
class Run:
    """A mutant, or none, whose tests run in a child process."""

    mutant: Mutant
    is_control: bool
    place: Path


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='./run mutate', description=__doc__.split('\n\n')[0])
    parser.add_argument('folder', help='of the package, such as control or node/topics')
    parser.add_argument('--sample', type=int, default=300, help='how many mutants; 0: all')
    parser.add_argument('--seed', type=int, default=1, help='another one draws another sample')
    parser.add_argument('--tests', nargs='+', metavar='PATH',
                        help='tests of the folder; by default the folder of that name in test/')
    parser.add_argument('-k', dest='keyword', default='', metavar='EXPRESSION',
                        help='of these tests only some, as pytest takes it')
    parser.add_argument('--seconds', type=float, default=inf,
                        help='how long tests run for each mutant at most [s]; the rate is then a '
                             'lower bound')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='processes at a time')
    return parser.parse_args()


def digest(paths: list[Path]) -> str:
    return hashlib.sha256(b'\0'.join(path.read_bytes() for path in sorted(paths))).hexdigest()


def drawn(found: list[Mutant], sources: dict, number: int, seed: int) -> list[Mutant]:
    """Return a random sample, of which a change of the source replaces what it changes only."""
    seen: Counter[tuple] = Counter()
    ranks = []
    for mutant in found:
        _, *changed = mutant.diff(sources[mutant.path]).split('\n')  # after the line's number
        name = (seed, mutant.path, mutant.scope, *changed)
        seen[name] += 1
        ranks.append(hashlib.sha256(repr((name, seen[name])).encode()).digest())
    return [found[i] for i in sorted(sorted(range(len(found)), key=ranks.__getitem__)[:number])]


def copy_of_repository() -> Path:
    """Return a new folder with all files of the repository, and what of it is compiled."""
    place = Path(tempfile.mkdtemp(prefix='mutation_'))
    listing = subprocess.run(
        ['git', 'ls-files', '-zco', '--exclude-standard'], cwd=ROOT, capture_output=True,
        check=True).stdout.decode()
    compiled = (str(path.relative_to(ROOT)) for path in (ROOT / PACKAGE).rglob('*.so'))
    for name in [*filter(None, listing.split('\0')), *compiled]:
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    return place


def files_of(tests: list[str]) -> list[str]:
    """Return the files of tests that are in folders or files."""
    return sorted(str(path.relative_to(ROOT)) for test in tests for path in (
        [ROOT / test] if (ROOT / test).is_file() else (ROOT / test).rglob('test_*.py')))


def coverage_of(tests: list[str], keyword: str, key: str, jobs: int) -> dict:
    """Return which tests come by which lines, how long they take and what they import."""
    kept = OUT / f'coverage-{key[:16]}.json'
    if not kept.exists():
        print('Running the tests once, to see which come by which line ...', flush=True)
        files = files_of(tests)
        parts = [files[job::jobs] for job in range(min(jobs, len(files)))]
        kept.write_text(json.dumps(merged([
            json.loads(part.read_text()) for part in measured(parts, keyword, kept)])))
    return json.loads(kept.read_text())


def measured(parts: list[list[str]], keyword: str, kept: Path) -> list[Path]:
    """Run parts of the tests in parallel, and return the files with what they come by."""
    first = copy_of_repository()
    paths, places, children = [], [first], []
    try:
        for number, files in enumerate(parts):
            if number:
                places.append(Path(shutil.copytree(
                    first, f'{first}_{number}', dirs_exist_ok=True)))
            paths.append(kept.with_suffix(f'.{number}.json'))
            child = os.fork()
            if not child:
                measure(places[-1], PACKAGE, [*files, '-k', keyword], paths[-1])
            children.append(child)
        statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    finally:
        for place in places:
            shutil.rmtree(place, ignore_errors=True)
    for path, status in zip(paths, statuses):
        if status not in (OK, NO_TESTS):
            raise SystemExit(
                f"The tests fail without a mistake already: see {path.with_suffix('.log')}")
    return paths


def merged(parts: list[dict]) -> dict:
    """Return what all parts of the tests come by."""
    lines: dict[str, dict[str, list[str]]] = {}
    for part in parts:
        for path, of_file in part['lines'].items():
            for line, names in of_file.items():
                lines.setdefault(path, {}).setdefault(line, []).extend(names)
    return {
        'lines': lines,
        'seconds': {name: took for part in parts for name, took in part['seconds'].items()},
        'modules': list(dict.fromkeys(name for part in parts for name in part['modules'])),
        'starters': sorted({name for part in parts for name in part['starters']})}


def tests_of(mutant: Mutant, covered: dict, seconds: float) -> list[str]:
    """
    Return the tests that execute a mutant, likely killers first, for so many seconds.

    The tests of the file with the same name come first.  Then each file has its turn, with its
    shortest test first.  The shortest tests of all are often of one kind, which expect an error.
    """
    namesake = f'test_{Path(mutant.path).stem}.py'
    lines = covered['lines'].get(mutant.path, {})
    first, last = mutant.lines
    names = {name for line in range(first, last + 1) for name in lines.get(str(line), ())}
    is_in_function = mutant.scope.rsplit('.', 1)[-1][:1].islower() or '__' in mutant.scope
    if not names and is_in_function and lines:
        names = set(covered['starters'])
    elif not names:  # also where no process that is seen comes by
        near = {name for those in lines.values() for name in those} or covered['seconds'].keys()
        files = {name.split('::')[0] for name in near}
        names = {name for name in covered['seconds']
                 if name.split('::')[0] in files or f'/{namesake}::' in name}
    turns: Counter[str] = Counter()
    order = {}
    for name in sorted(names, key=lambda name: (covered['seconds'].get(name, 0.0), name)):
        file = name.split('::')[0]
        order[name] = namesake not in name, 0 if namesake in name else turns[file]
        turns[file] += 1
    ordered = sorted(order, key=order.__getitem__)
    until = accumulate(covered['seconds'].get(name, 0.0) for name in ordered)
    return [name for name, end in zip(ordered, until) if end <= seconds] or ordered[:1]


def start(run: Run, source: str, tests: list[str], seconds: dict, number: int) -> int:
    """Fork a process that runs the tests of a mutant, and return its number."""
    if not run.is_control:
        write(run.place / run.mutant.path, run.mutant.applied(source), number)
    child = os.fork()
    if not child:
        run_tests(run.place, tests, seconds)
    return child


def write(path: Path, text: str, number: int) -> None:
    """Write a file, with a time by which Python tells its bytecode from that of other texts."""
    path.write_text(text, encoding='utf-8')
    os.utime(path, (number, number))


def finish(run: Run, source: str, child: int, status: int) -> dict:
    """Return what has come of a mutant, and mend its file."""
    try:
        os.killpg(child, signal.SIGKILL)  # what tests have started and left
    except ProcessLookupError:
        pass
    write(run.place / run.mutant.path, source, 0)
    code = os.waitstatus_to_exitcode(status)
    killer = run.place / 'killer'
    name = killer.read_text() if killer.exists() else ''
    killer.unlink(missing_ok=True)
    return {'outcome': OUTCOMES.get(code, 'killed' if code < 0 else f'error {code}'), 'by': name}


def run_all(
        todo: list[tuple[str, Run]], sources: dict, covered: dict, seconds: float, jobs: int,
        keep: Callable[[str, Run, dict], None]) -> None:
    """Run mutants in parallel, and hand over what comes of each."""
    first = copy_of_repository()
    places = [first] + [Path(shutil.copytree(
        first, f'{first}_{i}', dirs_exist_ok=True)) for i in range(1, jobs)]
    free, running = list(places), {}
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(),
               TimeRemainingColumn())
    try:
        with Progress(*columns, auto_refresh=False) as progress:
            task = progress.add_task('mutants', total=len(todo))
            while todo or running:
                while todo and free:
                    key, run = todo.pop(0)
                    run.place = free.pop()
                    tests = tests_of(run.mutant, covered, seconds)
                    child = start(run, sources[run.mutant.path], tests, covered['seconds'],
                                  len(todo) + 1)
                    running[child] = key, run, len(tests), time.monotonic()
                child, status = os.waitpid(-1, 0)
                if child not in running:
                    continue
                key, run, count, since = running.pop(child)
                result = finish(run, sources[run.mutant.path], child, status)
                keep(key, run, {**result, 'tests': count,
                                'seconds': round(time.monotonic() - since, 2)})
                free.append(run.place)
                progress.update(task, advance=1, refresh=True)
    finally:
        for child in running:
            os.killpg(child, signal.SIGKILL)
        for place in places:
            shutil.rmtree(place, ignore_errors=True)


def report(results: list[dict], controls: list[dict], console: Console) -> None:
    table = Table('file', 'mutants', 'killed', 'by time', 'equivalent', 'survived', '%')
    table.columns[0].no_wrap = True
    by_file = {}
    for result in results:
        by_file.setdefault(result['path'], Counter())[result['outcome']] += 1
    for path, count in [*sorted(by_file.items()), ('all', sum(by_file.values(), Counter()))]:
        killed = count['killed'] + count['timeout']
        rest = count.total() - count['equivalent']
        table.add_row(path.removeprefix(f'{PACKAGE}/'), str(count.total()), str(killed),
                      str(count['timeout']), str(count['equivalent']), str(rest - killed),
                      f'{100 * killed / rest:.1f}' if rest else '-')
    for result in results:
        if result['outcome'] not in ('killed', 'timeout', 'equivalent'):
            console.print(f"\n{result['path']}: {result['scope']}: {result['outcome']} "
                          f"{result['tests']} tests", highlight=False)
            console.print(result['diff'], highlight=False, markup=False)
    console.print(table)
    failed = sum(control['outcome'] != 'survived' for control in controls)
    console.print(f'{failed} of {len(controls)} runs without a mistake failed.')


def main() -> None:
    given = arguments()
    folder = Path(PACKAGE, given.folder.rstrip('/').removeprefix(f'{PACKAGE}/'))
    tests = given.tests or [str(Path('test', *folder.parts[1:]))]
    paths = sorted((ROOT / folder).rglob('*.py')) if (ROOT / folder).is_dir() else [
        (ROOT / folder).with_suffix('.py')]
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding='utf-8') for path in paths}
    OUT.mkdir(parents=True, exist_ok=True)
    of_tests = digest([p for t in ['test/support', *tests] for p in (
        [ROOT / t] if (ROOT / t).is_file() else (ROOT / t).rglob('*.py'))])
    of_package = digest(list((ROOT / PACKAGE).rglob('*.py')))
    covered = coverage_of(tests, given.keyword, hashlib.sha256(
        f'{of_tests} {of_package} {tests} {given.keyword}'.encode()).hexdigest(), given.jobs)

    sample = [mutant for path, source in sources.items() for mutant in mutants(path, source)]
    equivalent = {(entry['file'], entry['in'], entry['becomes'])
                  for entry in yaml.safe_load(EQUIVALENT.read_text()) or ()}
    for entry in sorted(equivalent - {
            (mutant.path, mutant.scope, mutant.changed_line(sources[mutant.path]))
            for mutant in sample}):
        if entry[0] in sources:
            print(f'{EQUIVALENT.name} has a mutant that there is no longer:', *entry)
    if 0 < given.sample < len(sample):
        sample = drawn(sample, sources, given.sample, given.seed)
    kept_path = OUT / f'{"-".join(folder.parts[1:])}.jsonl'
    kept = {}
    if kept_path.exists():
        for line in kept_path.read_text().splitlines():
            kept.update([json.loads(line)])

    results, controls, todo = [], [], []

    def keep(key: str, run: Run, result: dict) -> None:
        if run.is_control:
            controls.append(result)
            return
        mutant, source = run.mutant, sources[run.mutant.path]
        result = {'path': mutant.path, 'scope': mutant.scope, 'diff': mutant.diff(source),
                  'becomes': mutant.changed_line(source), 'of_tests': of_tests, **result}
        results.append(result)
        if result['tests']:
            with kept_path.open('a') as file:
                file.write(json.dumps([key, result]) + '\n')

    for number, mutant in enumerate(sample):
        source = sources[mutant.path]
        key = hashlib.sha256(f'{source}\0{mutant}'.encode()).hexdigest()[:24]
        known = kept.get(key)
        run = Run(mutant, False, ROOT)
        if (mutant.path, mutant.scope, mutant.changed_line(source)) in equivalent:
            keep(key, run, {'outcome': 'equivalent', 'by': '', 'tests': 0, 'seconds': 0.0})
        elif not tests_of(mutant, covered, given.seconds):
            keep(key, run, {'outcome': 'survived', 'by': '', 'tests': 0, 'seconds': 0.0})
        elif known and (known['of_tests'] == of_tests or known['outcome'] != 'survived'):
            results.append(known)
        else:
            todo.append((key, run))
            if number % CONTROLS == 0:
                todo.append(('', Run(mutant, True, ROOT)))
    warm_up(covered['modules'])
    run_all(todo, sources, covered, given.seconds, given.jobs, keep)

    (OUT / f'{kept_path.stem}.json').write_text(json.dumps(
        {'folder': str(folder), 'tests': tests, 'keyword': given.keyword, 'seed': given.seed,
         'mutants': results, 'controls': controls}, indent=1))
    console = Console()
    results.sort(key=lambda result: result['path'])
    report(results, controls, console)


if __name__ == '__main__':
    sys.exit(main())
