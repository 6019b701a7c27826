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
"""The machine of the measurements: processor, its frequency, and versions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path
import platform
import sys
from typing import Any

PACKAGES = (
    'numpy', 'llvmlite', 'pin', 'mujoco', 'drake', 'casadi', 'adam-robotics', 'pybullet',
    'figaroh', 'cmeel-eigen', 'cmeel-cppadcodegen', 'example-robot-data')

FREQUENCY = Path('/sys/devices/system/cpu/cpu0/cpufreq')


def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        for line in Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
            key, _, value = line.partition(':')
            if key.strip() == 'model name':
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """Return what is known of this machine."""
    return {
        'cpu': cpu_model(),
        'architecture': platform.machine(),
        'cores': os.cpu_count(),
        'governor': _read(FREQUENCY / 'scaling_governor'),
        'largest_frequency_khz': _read(FREQUENCY / 'cpuinfo_max_freq'),
        'system': platform.platform(),
        'load': os.getloadavg()[0],
    }


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of what takes part; None for what is not installed."""
    found: dict[str, str | None] = {'python': sys.version.split()[0]}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding='utf-8').strip()
    except OSError:
        return None
