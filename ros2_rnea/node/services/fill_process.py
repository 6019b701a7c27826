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
Filling trajectories in a process of its own, while the node goes on with its cycle.

Run as a module, this file is that process: it answers one request after the other.
"""

from __future__ import annotations

from functools import lru_cache
from multiprocessing.connection import Connection, Pipe
import os
import pickle
import signal
import subprocess
import sys
from threading import Lock

from rclpy.serialization import deserialize_message, serialize_message
from ros2_rnea.errors import RneaError
from ros2_rnea.kernels.background import lower_priority
from ros2_rnea.node.services.fill_answer import answer, Circumstances
from ros2_rnea.robot import Robot
from ros2_rnea_interfaces.srv import FillTrajectoryEfforts


class FillProcessError(RneaError):
    """The process cannot be started, or has ended in the middle of a request."""


class FillProcess:
    """
    The process, seen from the node's: started by the first request, and anew if it has died.

    One thread may ask while another one closes.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_closed = False
        self._running: tuple[subprocess.Popen, Connection] | None = None

    def answer(self, request: bytes, robot: Robot, given: Circumstances) -> bytes:
        """
        Return the answer to a request, both as they are serialized, once it is there.

        :raises FillProcessError: where the process ends before it has answered.
        """
        try:
            process, connection = self._started()
        except OSError as error:
            raise FillProcessError(
                f'the process that fills trajectories cannot be started: {error}') from error
        try:
            connection.send_bytes(pickle.dumps(robot))
            connection.send(given)
            connection.send_bytes(request)
            return connection.recv_bytes()
        except (EOFError, OSError) as error:
            connection.close()
            raise FillProcessError(
                f'the process that fills trajectories has ended with status {process.wait()} '
                'before it was done; the next request starts another') from error

    def close(self) -> None:
        """End the process, whatever it does, and start no other."""
        with self._lock:
            self._is_closed = True
            if self._running is not None:
                process, _ = self._running
                process.kill()
                process.wait()

    def _started(self) -> tuple[subprocess.Popen, Connection]:
        with self._lock:
            if self._is_closed:
                raise FillProcessError('the node is ending and fills no more trajectories')
            if self._running is None or self._running[0].poll() is not None:
                self._running = _start()
            return self._running


def _start() -> tuple[subprocess.Popen, Connection]:
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, '-m', 'ros2_rnea.node.services.fill_process', str(theirs.fileno())],
            stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))})
    return process, ours


@lru_cache(maxsize=1)
def _robot(pickled: bytes) -> Robot:
    """Return a robot, the same one as long as it is in force, with the kernels that it has."""
    return pickle.loads(pickled)


def main() -> None:
    """Answer what comes through the connection whose file descriptor is the one argument."""
    lower_priority()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the node, not by the keyboard
    with Connection(int(sys.argv[1])) as connection:
        try:
            while True:
                _answer_one(connection)
        except (EOFError, ConnectionError):  # the node has ended
            pass


def _answer_one(connection: Connection) -> None:
    robot, given = _robot(connection.recv_bytes()), connection.recv()
    request = deserialize_message(connection.recv_bytes(), FillTrajectoryEfforts.Request)
    connection.send_bytes(serialize_message(answer(request, robot, given)))


if __name__ == '__main__':
    main()
