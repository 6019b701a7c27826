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
The demo: the effect of feedforward on an arm, and the behaviour of the node at disturbances.

Run it with ``python -m ros2_rnea.tools.demo``.  It starts a simulated arm and the node in
separate processes, sends the same trajectories to both, and measures.

- :mod:`arm` finds out how large a motion the arm can do, :mod:`motion` is that motion,
- :mod:`experiment` has the phases that are compared, :mod:`scenes` the disturbances,
  :mod:`stage` what both have in common, :mod:`play` runs them one after the other,
- :mod:`commander` is the ROS node of the demo, :mod:`processes` starts and ends the other two,
- :mod:`figures` computes the results, :mod:`judge` compares them with thresholds,
- :mod:`report`, :mod:`picture` and :mod:`timeline` show them.
"""
