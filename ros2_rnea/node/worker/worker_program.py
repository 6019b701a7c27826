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
The program of a worker process.

The program is called as ``python <this file> <socket> <pipe> <version> <package> <folder> ...``.

It is started by its path, and the folders become its module search path: no file of the working
directory is imported in place of a module of Python or of this package.  Nothing but ``sys`` is
imported before that.  The package is the one that the node has imported.  The search path may
contain another copy of it, as in a workspace over an installed release.
"""

import sys


def main() -> None:
    """Serve the node at the other end of the socket and of the pipe, given as descriptors."""
    descriptor, lifeline, version = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    sys.path[:] = sys.argv[5:]
    end_with_the_node(lifeline)
    import_package('ros2_rnea', sys.argv[4])
    from ros2_rnea.node.worker.worker_tasks import serve

    serve(descriptor, version)


def import_package(name: str, path: str) -> None:
    """Import a package from its file, wherever the search path would find it."""
    from importlib.util import module_from_spec, spec_from_file_location
    from os.path import dirname

    spec = spec_from_file_location(name, path, submodule_search_locations=[dirname(path)])
    if spec is None or spec.loader is None:
        raise ImportError(f'{path} is no package')
    sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


def end_with_the_node(lifeline: int) -> None:
    """
    Let Linux end this process as soon as the node has ended, however it did.

    The node holds the other end of a pipe, into which it never writes; Linux closes it with the
    node.  It then sends SIGIO, for which no Python code has to run: a thread that waits for the
    end would first have to get the interpreter's lock, which a compiler holds for seconds.
    (PR_SET_PDEATHSIG is no alternative: it tells of the end of the node's thread that started
    this process.)

    :param lifeline: descriptor of the end of the pipe from which one reads.
    """
    import fcntl
    import os
    import select
    import signal

    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which is to end the process
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it ended before
        os._exit(0)


if __name__ == '__main__':
    main()
