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
"""A ROS domain that no other process of this machine uses."""

from __future__ import annotations

from errno import EADDRINUSE
import os
from socket import AF_INET, SOCK_DGRAM, socket

DOMAINS = [*range(1, 102), *range(215, 233)]
"""
Identifiers of domains whose ports Linux gives to no other program.

0 is left out: robots have it by default.

See https://docs.ros.org/en/jazzy/Concepts/Intermediate/About-Domain-ID.html.
"""

FIRST_PORT, PORTS = 7400, 250
"""The UDP ports of a domain; see chapter 9.6 of the specification of RTPS, version 2.2."""

OF_FIRST_PARTICIPANT = 10
"""The one on which the first participant of a domain on this machine receives."""

OF_NOBODY = 5
"""One that DDS does not use: the process that has bound it has reserved the domain."""

_reservations: list[socket] = []


def reserve_domain() -> int:
    """
    Reserve a domain until this process ends, and return its identifier.

    No two processes that call this function have the same domain at the same time, nor does one
    get a domain in which a participant of DDS runs.

    :raises OSError: where every domain is in use.
    """
    start = os.getpid()  # processes that start together try different ones first
    for number in range(len(DOMAINS)):
        domain = DOMAINS[(start + number) % len(DOMAINS)]
        port = FIRST_PORT + PORTS * domain
        reservation = _bound_socket(port + OF_NOBODY)
        if reservation is None:
            continue
        participant = _bound_socket(port + OF_FIRST_PARTICIPANT)
        if participant is None:
            reservation.close()
            continue
        participant.close()
        _reservations.append(reservation)
        return domain
    raise OSError(
        EADDRINUSE, f'all {len(DOMAINS)} ROS domains are in use on this machine: '
        'run fewer processes at the same time')


def _bound_socket(port: int) -> socket | None:
    """Return a socket bound to a UDP port of this machine; None where the port is in use."""
    bound = socket(AF_INET, SOCK_DGRAM)
    try:
        bound.bind(('127.0.0.1', port))
    except OSError:
        bound.close()
        return None
    return bound
