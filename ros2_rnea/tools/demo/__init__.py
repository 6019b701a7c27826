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
The demo: what feedforward from inverse dynamics does for an arm, and what when things go wrong.

Run it with ``python -m ros2_rnea.tools.demo``.  It starts a simulated arm and the node as
processes of their own, sends both the same trajectories and measures.

- :mod:`arm` is what the arm can do and so is asked of it, :mod:`motion` what it is to follow,
- :mod:`experiment` has the phases that are compared, :mod:`scenes` what else happens to the arm,
  :mod:`stage` what both play on, :mod:`play` their course,
- :mod:`commander` speaks ROS, :mod:`processes` starts and ends the other two,
- :mod:`figures` computes what comes out, :mod:`judge` what is good enough,
- :mod:`report`, :mod:`picture` and :mod:`timeline` show it.
"""
