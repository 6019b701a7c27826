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
A robot's model for programs without Python: as data that a small interpreter runs, and as C.

``model`` collects the tapes of a robot (:mod:`ros2_rnea.kernels.tape`) with what has to be known
to use them; ``model_file`` is that as bytes, which ``tape.c`` reads in place; ``c_code`` writes
the same as C99 for one robot.
"""
