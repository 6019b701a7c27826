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
Fast DDS without shared memory, in which a process that is killed leaves locks behind.

Each process of Fast DDS has a queue in shared memory, in which senders and receiver take a lock
for each message.  A process that is ended by SIGKILL (``kill -9``, Linux where memory is short, a
launch file after its patience) may hold such a lock.  Then all that send it something stand still
in the middle of a publication, for seconds or for ever: the end of a recorder stops the efforts to
a driver that lives.  UDP has no such lock, and takes the node as little time.
"""

from __future__ import annotations

import os
from pathlib import Path

TRANSPORTS = 'FASTDDS_BUILTIN_TRANSPORTS'
"""The variable that chooses transports; Fast DDS of ROS 2 Humble does not know it."""

PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
"""The variables that name a file with profiles: of Fast DDS 2 and 3."""

PROFILE_FILES = ('DEFAULT_FASTRTPS_PROFILES.xml', 'DEFAULT_FASTDDS_PROFILES.xml')
"""The files with profiles that are read from the working directory without any variable."""

RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'

LOCALHOST_ONLY = 'ROS_LOCALHOST_ONLY'
"""The variable that came before the range, and precedes it."""

OTHER_RANGES = ('', 'SUBNET', 'SYSTEM_DEFAULT', 'OFF')
"""The ranges besides LOCALHOST, for which rcl takes every other word, such as ``localhost``."""

LOCALHOST_PROFILE = str(Path(__file__).with_name('fastdds_localhost.xml'))
"""What rmw_fastrtps does for the range LOCALHOST, without the shared memory that it adds."""


def stay_on_this_machine() -> None:
    """
    Let this process and its children communicate with processes of this machine only.

    Call it before ROS is initialized.
    """
    os.environ[RANGE] = 'LOCALHOST'
    if _is_humble():  # which does not know the variable above
        os.environ[LOCALHOST_ONLY] = '1'
    avoid_shared_memory(os.environ.get('RMW_IMPLEMENTATION') or 'rmw_fastrtps_cpp')


def avoid_shared_memory(middleware: str) -> None:
    """
    Let this process and its children use Fast DDS over UDP, unless the user has chosen otherwise.

    Call it before ROS is initialized.  Transports and profiles in the environment are a choice.
    Static peers on this machine remain in force, too: rmw_fastrtps combines them with shared
    memory.  Humble knows neither the range nor the variable of transports, and is left as it is.

    :param middleware: identifier of the RMW implementation; only those of Fast DDS are changed.
    """
    if not may_use_shared_memory(middleware) or _is_chosen() or _is_humble():
        return
    if _only_rmw_chooses():
        if not os.access(LOCALHOST_PROFILE, os.R_OK):
            return  # because Fast DDS would go on without it, and reach the network
        os.environ.pop(LOCALHOST_ONLY, None)
        os.environ[RANGE] = 'SYSTEM_DEFAULT'  # with which rmw_fastrtps keeps what the profile says
        os.environ.update(dict.fromkeys(PROFILE_VARIABLES, LOCALHOST_PROFILE))
    else:
        os.environ[TRANSPORTS] = 'UDPv4'


def may_use_shared_memory(middleware: str) -> bool:
    """Return whether ROS may use shared memory in the present environment."""
    is_avoided = not _only_rmw_chooses() and (
        LOCALHOST_PROFILE in _profiles()
        or os.environ.get(TRANSPORTS, '').startswith('UDP') and not _is_humble())
    return middleware.startswith('rmw_fastrtps') and not is_avoided


def _is_chosen() -> bool:
    """Return whether the user has chosen transports, or something that decides on them."""
    transports = os.environ.get(TRANSPORTS, '')
    if any(profile != LOCALHOST_PROFILE for profile in _profiles()) or any(
            Path(name).exists() for name in PROFILE_FILES):
        return True
    if _only_rmw_chooses():
        return transports[:3] not in ('', 'UDP') or bool(os.environ.get('ROS_STATIC_PEERS'))
    return bool(transports)


def _only_rmw_chooses() -> bool:
    """Return whether rmw_fastrtps ignores what the environment says of transports."""
    return os.environ.get(RANGE, '') not in OTHER_RANGES or (
        os.environ.get(LOCALHOST_ONLY) == '1')


def _is_humble() -> bool:
    return os.environ.get('ROS_DISTRO') == 'humble'


def _profiles() -> list[str]:
    """Return the files with profiles that the environment names."""
    return [os.environ[name] for name in PROFILE_VARIABLES if os.environ.get(name)]
