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
Two hosts on one machine: network namespaces, joined by a wire that can be cut and lose frames.

Each host has its own network and its own /dev/shm, as two computers have.  The wire is a thread of
the test that carries Ethernet frames between two TAP devices, because the kernel's network
emulator (``tc netem``) is not in every kernel.  It needs root.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from fcntl import ioctl
from functools import partial
from heapq import heappop, heappush
import os
from random import Random
from select import select
import shutil
import struct
import subprocess
from threading import Thread
from time import monotonic
from typing import IO

from ros2_rnea.node.transports import PROFILE_VARIABLES, RANGE, TRANSPORTS

NAMES = ('arm', 'computer')
"""The hosts: that of the driver, and that of the node."""

_TUNSETIFF = 0x400454CA  # <linux/if_tun.h>
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_LONGEST_FRAME = 65_536

# A message between the hosts must not go through memory that computers do not share.
_IN_ITS_OWN_MEMORY = 'mount -t tmpfs tmpfs /dev/shm && exec "$@"'


def why_impossible() -> str:
    """Return why there cannot be two hosts here; empty where there can."""
    if os.geteuid() != 0:
        return 'network namespaces need root'
    missing = [name for name in ('ip', 'unshare') if shutil.which(name) is None]
    if missing:
        return f'{" and ".join(missing)} not installed (Debian: iproute2, util-linux)'
    if not os.path.exists('/dev/net/tun'):
        return 'there is no /dev/net/tun'
    name = f'rnea_try_{os.getpid()}'
    made = subprocess.run(['ip', 'netns', 'add', name], capture_output=True, text=True)
    if made.returncode != 0:
        return f'no network namespace can be made: {made.stderr.strip()}'
    subprocess.run(['ip', 'netns', 'delete', name], check=True)
    return ''


class Wire:
    """
    Carries frames between two TAP devices.

    :ivar is_cut: whether all frames are lost.
    :ivar loss: share of the frames that are lost, in each direction.
    :ivar delay: how long a frame takes [s].
    """

    def __init__(self, ends: Sequence[int]) -> None:
        self._ends = ends
        self._draw = Random(1)
        self._closing = False
        self.is_cut, self.loss, self.delay = False, 0.0, 0.0
        self._thread = Thread(target=self._carry, name='wire', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop carrying."""
        self._closing = True
        self._thread.join()

    def _carry(self) -> None:
        on_the_way: list[tuple[float, int, int, bytes]] = []
        other, count = dict(zip(self._ends, reversed(self._ends))), 0
        while not self._closing:
            wait = max(0.0, on_the_way[0][0] - monotonic()) if on_the_way else 0.1
            for end in select(self._ends, [], [], min(wait, 0.1))[0]:
                frame = os.read(end, _LONGEST_FRAME)
                if not self.is_cut and self._draw.random() >= self.loss:
                    count += 1  # the order of frames that are due at the same time
                    heappush(on_the_way, (monotonic() + self.delay, count, other[end], frame))
            while on_the_way and on_the_way[0][0] <= monotonic():
                _, _, end, frame = heappop(on_the_way)
                os.write(end, frame)


class TwoHosts:
    """
    Two hosts and their wire, as a context.

    :ivar wire: between them.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._spaces = {name: f'rnea_{name}_{os.getpid()}' for name in NAMES}

    def __enter__(self) -> TwoHosts:
        """Make both hosts and join them."""
        try:
            ends = [self._add(name, number) for number, name in enumerate(NAMES, start=1)]
        except BaseException:
            self._stack.close()
            raise
        self.wire = Wire(ends)
        self._stack.callback(self.wire.close)
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes of the hosts, and the hosts."""
        self._stack.close()

    def start(self, name: str, command: Sequence[str], log: IO[bytes]) -> subprocess.Popen:
        """
        Start a process on a host; its standard input and output are pipes.

        :param log: gets its standard error.
        """
        process = subprocess.Popen(
            ['ip', 'netns', 'exec', self._spaces[name], 'unshare', '--mount', 'sh', '-c',
             _IN_ITS_OWN_MEMORY, 'sh', *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            start_new_session=True, env=_environment())
        self._stack.callback(partial(_end, process))
        return process

    def _add(self, name: str, number: int) -> int:
        """Add a host with a network, and return its end of the wire."""
        space, device = self._spaces[name], f'rnea{number}_{os.getpid()}'
        _ip('netns', 'add', space)
        self._stack.callback(_ip, 'netns', 'delete', space)
        end = os.open('/dev/net/tun', os.O_RDWR)
        self._stack.callback(os.close, end)
        ioctl(end, _TUNSETIFF, struct.pack('16sH', device.encode(), _IFF_TAP | _IFF_NO_PI))
        _ip('link', 'set', device, 'netns', space)
        _ip('-n', space, 'address', 'add', f'10.213.7.{number}/24', 'dev', device)
        for each in ('lo', device):
            _ip('-n', space, 'link', 'set', each, 'up')
        _ip('-n', space, 'route', 'add', '224.0.0.0/4', 'dev', device)  # discovery is multicast
        return end


def _environment() -> dict[str, str]:
    """Return that of the tests, without the profile that finds no process of another host."""
    environment = {
        name: value for name, value in os.environ.items() if name not in PROFILE_VARIABLES}
    return {**environment, RANGE: 'SUBNET', TRANSPORTS: 'UDPv4'}


def _ip(*arguments: str) -> None:
    subprocess.run(['ip', *arguments], check=True)


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.kill()
    process.communicate()
