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
"""Everything that was measured, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
import json
from pathlib import Path
from typing import Any

from benchmark.campaign import Result
from benchmark.disturbance import Disturbance
from benchmark.machine import machine, versions
from benchmark.measure import Settings
from benchmark.robots import Description
from benchmark.startup import Startup
from benchmark.summary import Spread


def record(
        path: Path, settings: Settings, descriptions: Sequence[Description],
        results: Sequence[Result], startups: Sequence[Startup],
        disturbance: Disturbance) -> None:
    """Write what was measured, on what, and how busy the machine was."""
    content = {
        'machine': machine(),
        'versions': versions(),
        'settings': {'rounds': settings.rounds, 'block_ns': settings.block},
        'disturbance': {**asdict(disturbance), 'reasons': list(disturbance.reasons())},
        'robots': {d.name: {'title': d.title, 'floating_base': d.floating_base,
                            'chain_joints': d.chain_joints} for d in descriptions},
        'results': [_plain(result) for result in results],
        'startup': [_plain(startup) for startup in startups],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + '\n', encoding='utf-8')


def _plain(figures: Result | Startup) -> dict[str, Any]:
    """Return a dataclass as a dict, quartiles by name."""
    own = {name: getattr(figures, name) for name in asdict(figures)}
    return {name: value._asdict() if isinstance(value, Spread) else value
            for name, value in own.items()}
