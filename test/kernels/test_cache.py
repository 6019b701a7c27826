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
"""What is put into the cache comes out as it was or not at all, and only from a private folder."""

import errno
from functools import partial
import os
from pathlib import Path
import signal
import stat
import subprocess
import sys
import time
from types import SimpleNamespace

from many_threads import frequent_switches, together
from patience import PATIENCE
import pytest
from repository import ROOT
from ros2_rnea.kernels import cache
from ros2_rnea.kernels.cache import key_of, ObjectCache, open_cache

KEY = key_of('a kernel')
DATA = bytes(range(256)) * 20


@pytest.fixture
def folder(tmp_path):
    return tmp_path / 'cache' / 'ros2_rnea'


@pytest.fixture
def file(folder):
    """Return the one file of a cache that holds DATA under KEY."""
    open_cache(folder).put(KEY, DATA)
    (file,) = folder.iterdir()
    return file


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# --- keys

def test_key_depends_on_each_part_and_on_where_parts_end():
    keys = [key_of('ab', 'c'), key_of('a', 'bc'), key_of('abc'), key_of('ab', 'c', ''),
            key_of('c', 'ab')]
    assert len(set(keys)) == len(keys)
    assert key_of('ab', 'c') == keys[0]


# --- what is kept

def test_put_in_by_one_process_comes_out_of_another(folder):
    open_cache(folder).put(KEY, DATA)
    assert open_cache(folder).get(KEY) == DATA


def test_unknown_key_gives_nothing_and_leaves_nothing_behind(folder):
    assert open_cache(folder).get(KEY) is None
    assert not folder.exists()


def test_later_data_replaces_earlier(folder):
    for data in (DATA, b'', b'other'):
        open_cache(folder).put(KEY, data)
        assert open_cache(folder).get(KEY) == data


def test_files_are_the_users_alone(file, folder):
    assert (mode(file), mode(folder)) == (0o600, 0o700)


def test_trouble_is_not_claimed_where_there_is_none(file, folder):
    assert open_cache(folder).reason is None


# --- where it is

@pytest.mark.parametrize('environment, place', [
    ({'XDG_CACHE_HOME': '/xdg', 'HOME': '/home/me'}, '/xdg/ros2_rnea'),
    ({'HOME': '/home/me'}, '/home/me/.cache/ros2_rnea'),
    ({'XDG_CACHE_HOME': '', 'HOME': '/home/me'}, '/home/me/.cache/ros2_rnea'),
    ({'XDG_CACHE_HOME': 'relative', 'HOME': '/home/me'}, '/home/me/.cache/ros2_rnea'),
])
def test_folder_follows_the_xdg_specification(environment, place):
    assert open_cache(environment=environment).folder == Path(place)


# --- memory only, with the reason

def check_memory_only(opened, because):
    opened.put(KEY, DATA)
    assert opened.get(KEY) == DATA
    assert because in opened.reason


@pytest.mark.parametrize('environment', [{}, {'HOME': ''}, {'HOME': 'relative'}])
def test_no_home_is_memory_only(environment):
    check_memory_only(open_cache(environment=environment), 'HOME')


@pytest.mark.parametrize('bits', [0o770, 0o707, 0o722, 0o1777])
def test_folder_that_others_may_write_to_is_memory_only(file, folder, bits):
    folder.chmod(bits)
    assert open_cache(folder).get(KEY) is None
    before = file.read_bytes()
    check_memory_only(open_cache(folder), 'others may write')
    assert file.read_bytes() == before


def test_folder_that_others_may_only_read_is_used(file, folder):
    folder.chmod(0o755)
    assert open_cache(folder).get(KEY) == DATA


def test_folder_of_another_user_is_memory_only(file, folder, monkeypatch):
    monkeypatch.setattr(os, 'geteuid', lambda: os.getuid() + 1)
    assert open_cache(folder).get(KEY) is None
    check_memory_only(open_cache(folder), f'belongs to user {os.getuid()}')


def test_symbolic_link_is_memory_only(file, folder):
    link = folder.parent / 'link'
    link.symlink_to(folder)
    assert open_cache(link).get(KEY) is None
    check_memory_only(open_cache(link), 'symbolic link')


def test_link_made_after_the_look_is_not_followed(file, folder, monkeypatch):
    link = folder.parent / 'link'
    link.symlink_to(folder)
    monkeypatch.setattr(Path, 'is_symlink', lambda path: False)
    assert open_cache(link).get(KEY) is None


def test_file_in_place_of_the_folder_is_memory_only(folder):
    folder.parent.mkdir()
    folder.write_text('in the way')
    check_memory_only(open_cache(folder), str(folder))


def fail_with(code):
    def fail(*arguments, **named):
        raise OSError(code, os.strerror(code))
    return fail


@pytest.mark.parametrize('code', [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize('function', ['open', 'replace'])
def test_folder_that_cannot_be_written_is_memory_only(folder, monkeypatch, function, code):
    opened = open_cache(folder)
    monkeypatch.setattr(os, function, fail_with(code))
    check_memory_only(opened, os.strerror(code))
    monkeypatch.undo()
    assert list(folder.iterdir()) == []


def test_folder_that_cannot_be_made_is_memory_only(tmp_path):
    (tmp_path / 'file').touch()
    check_memory_only(open_cache(tmp_path / 'file' / 'ros2_rnea'), str(tmp_path))


FULL = """
import resource, sys
from pathlib import Path
from ros2_rnea.kernels.cache import open_cache
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
opened = open_cache(Path(sys.argv[1]))
opened.put('ab' * 32, bytes(5000))
sys.exit(opened.get('ab' * 32) != bytes(5000) or 'File too large' not in opened.reason)
"""


def test_disk_that_fills_within_a_file_is_memory_only(folder):
    assert subprocess.run([sys.executable, '-c', FULL, folder], cwd=ROOT, check=True)
    assert list(folder.iterdir()) == []


def test_read_only_folder_still_gives_what_it_has(file, folder, monkeypatch):
    monkeypatch.setattr(os, 'utime', fail_with(errno.EROFS))
    assert open_cache(folder).get(KEY) == DATA


def test_memory_is_bounded():
    opened = open_cache(environment={})
    keys = [key_of(str(number)) for number in range(2 * cache.MAX_IN_MEMORY)]
    for key in keys:
        opened.put(key, DATA)
    assert [*map(opened.get, keys)] == (
        [None] * cache.MAX_IN_MEMORY + [DATA] * cache.MAX_IN_MEMORY)


def test_threads_may_use_the_memory_at_once(monkeypatch):
    monkeypatch.setattr(cache, 'MAX_IN_MEMORY', 2)
    opened = ObjectCache(None)

    def use(thread):
        for number in range(30_000):
            key = f'{thread} {number % 3}'
            opened.put(key, DATA)
            assert opened.get(key) in (DATA, None)  # another thread may have removed it

    with frequent_switches():
        together(*(partial(use, number) for number in range(4)))
    kept = [opened.get(f'{thread} {number}') for thread in range(4) for number in range(3)]
    assert sum(data is not None for data in kept) == 2


# --- files that are not sound

def flip(position):
    def flipped(data):
        at = position % len(data)
        return data[:at] + bytes([data[at] ^ 4]) + data[at + 1:]
    return flipped


UNSOUND = {
    'empty': lambda data: b'',
    'torn in the header': lambda data: data[:50],
    'torn in the payload': lambda data: data[:-1],
    'followed by more': lambda data: data + b'\0',
    'zeros, as after a power cut': lambda data: bytes(len(data)),
    'foreign': lambda data: b'\x7fELF' + data,
    'bit flipped in the payload': flip(-1),
}


@pytest.mark.parametrize('spoil', UNSOUND.values(), ids=UNSOUND)
def test_unsound_file_is_ignored_removed_and_rebuilt(file, folder, spoil):
    file.write_bytes(spoil(file.read_bytes()))
    opened = open_cache(folder)
    assert opened.get(KEY) is None
    assert not file.exists()
    opened.put(KEY, DATA)
    assert opened.get(KEY) == DATA
    assert opened.reason is None


def test_every_bit_of_the_header_counts(file, folder):
    sound = file.read_bytes()
    for position in range(cache.HEADER.size):
        file.write_bytes(flip(position)(sound))
        assert open_cache(folder).get(KEY) is None, position


def test_file_of_another_key_is_ignored(file, folder):
    other = key_of('another')
    file.rename(folder / file.name.replace(KEY, other))
    assert open_cache(folder).get(other) is None


def test_file_of_another_format_is_ignored(file, folder, monkeypatch):
    monkeypatch.setattr(cache, 'FORMAT', cache.FORMAT + 1)
    assert open_cache(folder).get(KEY) is None


def test_file_that_others_may_write_to_is_ignored(file, folder):
    file.chmod(0o666)
    assert open_cache(folder).get(KEY) is None


def test_symbolic_link_in_place_of_a_file_is_not_followed(file, folder):
    elsewhere = folder.parent / 'elsewhere'
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert open_cache(folder).get(KEY) is None
    assert elsewhere.exists() and not file.is_symlink()


@pytest.mark.parametrize('writer', [False, True])
def test_pipe_in_place_of_a_file_is_ignored_without_waiting(file, folder, writer):
    sound = file.read_bytes()
    file.unlink()
    os.mkfifo(file)
    if writer:
        pipe = os.open(file, os.O_RDWR)
        os.write(pipe, sound)
    assert open_cache(folder).get(KEY) is None
    if writer:
        os.close(pipe)


def test_folder_in_place_of_a_file_is_memory_only(file, folder):
    file.unlink()
    file.mkdir()
    opened = open_cache(folder)
    assert opened.get(KEY) is None
    check_memory_only(opened, 'directory')


def test_no_descriptor_is_left_open(file, folder):
    def descriptors():
        return len(os.listdir('/proc/self/fd'))
    if not Path('/proc/self/fd').exists():
        pytest.skip('there is no /proc')
    before = descriptors()
    opened = open_cache(folder)
    for spoil in (*UNSOUND.values(), lambda data: data):
        file.write_bytes(spoil(file.read_bytes() if file.exists() else DATA))
        opened.get(KEY)
        opened.put(KEY, DATA)
    assert descriptors() == before


# --- many processes

RACER = """
import sys
from pathlib import Path
from ros2_rnea.kernels.cache import key_of, open_cache
folder, letter = Path(sys.argv[1]), sys.argv[2].encode()
opened = open_cache(folder)
sys.stdin.read()  # until all may start
for _ in range(200):
    opened.put(key_of('raced'), letter * 100_000)
    found = opened.get(key_of('raced'))
    if found is None or len(found) != 100_000 or len(set(found)) != 1:
        sys.exit('torn')
if opened.reason:
    sys.exit('trouble')
"""


def test_processes_writing_one_key_never_see_it_torn(folder):
    racers = [subprocess.Popen([sys.executable, '-c', RACER, folder, letter], cwd=ROOT,
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
              for letter in 'ab']
    for racer in racers:
        racer.stdin.close()
    for racer in racers:
        assert (racer.wait(PATIENCE), racer.stderr.read()) == (0, b'')
        racer.stderr.close()
    assert len(list(folder.iterdir())) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from ros2_rnea.kernels import cache
cache.os.replace = lambda *arguments, **named: os.kill(os.getpid(), signal.SIGKILL)
cache.open_cache(Path(sys.argv[1])).put(cache.key_of('a kernel'), b'half')
"""


def test_writer_that_is_killed_leaves_what_was_there(file, folder):
    killed = subprocess.run([sys.executable, '-c', KILLED, folder], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(folder.iterdir())) == 2
    opened = open_cache(folder)
    assert opened.get(KEY) == DATA
    (left,) = set(folder.iterdir()) - {file}
    opened.put(KEY, DATA)
    assert left.exists()  # it could still be written
    hours_ago = time.time() - 2 * cache.ABANDONED
    os.utime(left, (hours_ago, hours_ago))
    opened.put(KEY, DATA)
    assert list(folder.iterdir()) == [file]


# --- bounds

def filled(folder, number):
    """Put in several and make each look older than the next; return the keys."""
    opened = open_cache(folder)
    keys = [key_of(str(i)) for i in range(number)]
    for age, key in enumerate(reversed(keys)):
        opened.put(key, DATA)
        when = time.time() - 100.0 * (age + 1)
        os.utime(folder / f'{key}.object', (when, when))
    return keys


def held(folder, keys):
    return [(folder / f'{key}.object').exists() for key in keys]


def test_what_was_not_used_for_longest_goes_first(folder, monkeypatch):
    keys = filled(folder, 4)
    monkeypatch.setattr(cache, 'MAX_FILES', 3)
    open_cache(folder).get(keys[0])
    open_cache(folder).put(KEY, DATA)
    assert held(folder, [*keys, KEY]) == [True, False, False, True, True]


def test_size_is_bounded(folder, monkeypatch):
    keys = filled(folder, 4)
    monkeypatch.setattr(cache, 'MAX_BYTES', 3 * (len(DATA) + cache.HEADER.size))
    open_cache(folder).put(KEY, DATA)
    assert held(folder, [*keys, KEY]) == [False, False, True, True, True]


def test_files_that_are_not_the_caches_stay(folder, monkeypatch):
    filled(folder, 2)
    (folder / 'notes.txt').write_text('mine')
    monkeypatch.setattr(cache, 'MAX_FILES', 1)
    open_cache(folder).put(KEY, DATA)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [f'{KEY}.object', 'notes.txt'])


# --- shipped with an image

OTHER_USER = os.getuid() + 1


@pytest.fixture
def shipped(tmp_path):
    """Return a folder that another program has filled for others to read."""
    folder = tmp_path / 'shipped'
    ObjectCache(folder, is_public=True).put(KEY, DATA)
    return folder


def reader_of(*shipped, folder):
    return open_cache(folder, {cache.SHIPPED: os.pathsep.join(map(str, shipped))})


@pytest.mark.parametrize('mask', [0o077, 0o002, 0o000])
def test_what_is_made_to_be_shipped_is_readable_by_all(tmp_path, mask):
    there = tmp_path / 'there'
    there.mkdir()
    there.chmod(0o750)
    before = os.umask(mask)
    try:
        ObjectCache(there / 'a' / 'b', is_public=True).put(KEY, DATA)
    finally:
        os.umask(before)
    (made,) = (there / 'a' / 'b').iterdir()
    assert [mode(path) for path in (made, made.parent, there / 'a', there)] == [
        0o644, 0o755, 0o755, 0o750]
    assert cache.why_not_readable(made.parent) == ''
    assert 'others cannot enter' in cache.why_not_reachable(made.parent)


def test_shipped_files_are_read_and_nothing_is_written_beside_them(shipped, folder):
    (there,) = shipped.iterdir()
    os.utime(there, (1.0, 1.0))
    opened = reader_of(shipped, folder=folder)
    assert opened.get(KEY) == DATA
    assert opened.refused == () and opened.reason is None
    opened.put(key_of('another'), DATA)
    assert [*shipped.iterdir()] == [there] and there.stat().st_mtime == 1.0
    assert len([*folder.iterdir()]) == 1


def test_the_own_folder_comes_first_and_several_are_looked_through(shipped, folder, tmp_path):
    second = tmp_path / 'second'
    other = key_of('another')
    ObjectCache(second, is_public=True).put(other, b'other')
    opened = reader_of(shipped, second, folder=folder)
    assert (opened.get(KEY), opened.get(other)) == (DATA, b'other')
    open_cache(folder).put(KEY, b'own')
    assert opened.get(KEY) == b'own'


@pytest.mark.skipif(os.getuid() != 0, reason='only root can give files to root')
def test_those_of_root_are_read_by_every_user(shipped, folder, monkeypatch):
    monkeypatch.setattr(os, 'geteuid', lambda: OTHER_USER)
    opened = reader_of(shipped, folder=folder)
    assert opened.refused == ()
    assert opened.get(KEY) == DATA


@pytest.mark.skipif(os.getuid() != 0, reason='only root can give files away')
@pytest.mark.parametrize('what', ['folder', 'file'])
def test_those_of_another_user_are_not_used(shipped, folder, what):
    (there,) = shipped.iterdir()
    os.chown(shipped if what == 'folder' else there, OTHER_USER, -1)
    opened = reader_of(shipped, folder=folder)
    assert opened.get(KEY) is None
    (text,) = opened.refused
    assert f'belongs to user {OTHER_USER}' in text and (there.name in text) == (what == 'file')


@pytest.mark.parametrize('what', ['folder', 'file'])
@pytest.mark.parametrize('bits', [0o775, 0o757])
def test_those_that_others_may_write_to_are_not_used(shipped, folder, what, bits):
    (there,) = shipped.iterdir()
    (shipped if what == 'folder' else there).chmod(bits)
    opened = reader_of(shipped, folder=folder)
    assert opened.get(KEY) is None
    assert there.exists()
    (text,) = opened.refused
    assert 'others may write' in text and (there.name in text) == (what == 'file')


def test_a_damaged_one_is_not_used_and_stays(shipped, folder):
    (there,) = shipped.iterdir()
    there.write_bytes(there.read_bytes()[:-1] + b'x')
    opened = reader_of(shipped, folder=folder)
    assert opened.refused == ()  # it is read only when it is needed
    assert opened.get(KEY) is opened.get(KEY) is None
    (text,) = opened.refused
    assert f'{there.name} is refused' in text and text.endswith('it is damaged')
    assert there.exists()


def test_a_shipped_folder_that_cannot_be_used_is_named(shipped, folder, tmp_path):
    link = tmp_path / 'link'
    link.symlink_to(shipped)
    opened = reader_of(link, tmp_path / 'nowhere', 'relative', folder=folder)
    assert opened.get(KEY) is None
    for text, reason in zip(opened.refused, (
            'symbolic link', 'No such file', 'not an absolute path'), strict=True):
        assert text.startswith('ROS2_RNEA_KERNEL_PATH names ')
        assert reason in text


def test_another_robots_shipped_kernels_are_no_reason_for_a_warning(shipped, folder):
    opened = reader_of(shipped, folder=folder)
    assert opened.get(key_of('of another robot')) is None
    assert opened.refused == ()


def test_what_is_shipped_is_never_removed_for_room(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, 'MAX_FILES', 1)
    public = ObjectCache(tmp_path / 'shipped', is_public=True)
    for name in ('one', 'another', 'a third'):
        public.put(key_of(name), DATA)
    assert len([*(tmp_path / 'shipped').iterdir()]) == 3


# --- the folders above


@pytest.mark.parametrize('bits, is_used', [
    (0o755, True), (0o1777, True), (0o777, False), (0o757, False)])
def test_a_folder_below_one_others_may_change_is_refused(file, folder, bits, is_used):
    folder.parent.chmod(bits)
    opened = open_cache(folder)
    assert (opened.get(KEY) == DATA) is is_used
    reason = opened.reason
    assert reason is None if is_used else f'{folder.parent}, above it, may be changed' in reason


@pytest.mark.parametrize('is_private', [True, False])
def test_only_the_users_own_group_may_write_above(
        file, folder, monkeypatch, is_private):
    members = [] if is_private else ['somebody']
    name = cache.pwd.getpwuid(os.geteuid()).pw_name
    monkeypatch.setattr(
        cache.grp, 'getgrgid', lambda _: SimpleNamespace(gr_name=name, gr_mem=members))
    folder.parent.chmod(0o775)
    assert (open_cache(folder).get(KEY) == DATA) is is_private


@pytest.mark.skipif(os.getuid() != 0, reason='only root can give files away')
@pytest.mark.parametrize('owned', ['folder', 'link'])
def test_another_user_may_own_neither_folder_nor_link_above(file, folder, owned):
    link = folder.parent.parent / 'link'
    link.symlink_to(folder.parent)
    assert open_cache(link / 'ros2_rnea').get(KEY) == DATA  # a link of the user may be there
    os.chown(link if owned == 'link' else folder.parent, OTHER_USER, -1, follow_symlinks=False)
    opened = open_cache(link / 'ros2_rnea')
    assert opened.get(KEY) is None
    assert f'belongs to user {OTHER_USER}' in opened.reason


@pytest.mark.parametrize('is_absolute', [True, False])
def test_the_folder_of_each_link_on_the_way_counts(file, folder, tmp_path, is_absolute):
    open_to_all = tmp_path / 'open'
    open_to_all.mkdir()
    (open_to_all / 'second').symlink_to(
        folder.parent if is_absolute else Path('..', folder.parent.name))
    (tmp_path / 'first').symlink_to(open_to_all / 'second')
    path = tmp_path / 'first' / 'ros2_rnea'
    assert open_cache(path).get(KEY) == DATA
    open_to_all.chmod(0o777)
    opened = open_cache(path)
    assert opened.get(KEY) is None
    assert f'{open_to_all}, above it' in opened.reason


def test_links_that_lead_in_a_circle_end(tmp_path):
    (tmp_path / 'one').symlink_to(tmp_path / 'two')
    (tmp_path / 'two').symlink_to(tmp_path / 'one')
    opened = open_cache(tmp_path / 'one' / 'ros2_rnea')
    opened.put(KEY, DATA)
    assert opened.get(KEY) == DATA
    assert 'Too many levels of symbolic links' in opened.reason


def test_shipped_folders_below_one_that_others_may_change_are_said(shipped, folder):
    shipped.parent.chmod(0o777)
    opened = reader_of(shipped, folder=folder)
    assert opened.get(KEY) is None
    (text,) = opened.refused
    assert f'{shipped.parent}, above it, may be changed by others' in text


def test_without_a_home_shipped_files_are_read_too(shipped):
    assert open_cache(environment={cache.SHIPPED: str(shipped)}).get(KEY) == DATA
