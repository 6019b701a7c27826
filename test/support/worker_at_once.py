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
The program of a worker process whose priority is that of the tests.

A worker process of a node lets other processes run first.  On a busy machine it would then keep
each test waiting that needs a model.
"""

from os.path import dirname
import sys

if __name__ == '__main__':
    sys.path[:] = [*sys.argv[5:], dirname(dirname(sys.argv[4]))]
    from ros2_rnea.node.worker import worker_program, worker_tasks

    worker_tasks.NICENESS = 0
    worker_program.main()
