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
The program of a worker process: ``python <this file> <file descriptor> <folder> ...``.

It is started by its path, and the folders become its module search path, so that no file of the
working directory is imported in place of a module of Python or of this package.  Nothing but
``sys`` is imported before that.
"""

import sys


def main() -> None:
    """Serve the node that is connected to the socket with the given file descriptor."""
    descriptor, sys.path[:] = int(sys.argv[1]), sys.argv[2:]
    from ros2_rnea.node.worker.worker_tasks import serve

    serve(descriptor)


if __name__ == '__main__':
    main()
