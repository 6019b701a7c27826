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
"""Threads with a lower priority than the control thread."""

import os
from threading import enumerate as threads, Thread


LONGEST_END = 2.0
"""Longest wait for the end of a thread that may be computing [s]."""


class BackgroundThread(Thread):
    """
    A thread with the default scheduling policy, whatever policy the thread has that starts it.

    Threads and processes that it starts inherit the default policy.
    """

    def run(self) -> None:
        """Leave the real-time scheduling policy, then run the target."""
        if os.sched_getscheduler(0) != os.SCHED_OTHER:  # 0 is the calling thread
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        super().run()

    def wait(self) -> bool:
        """Wait for the end, at most :data:`LONGEST_END`, and return whether it has come."""
        self.join(LONGEST_END)
        return not self.is_alive()


def background_threads() -> set[int]:
    """Return the native identifiers of all threads of this kind."""
    return {thread.native_id for thread in threads()
            if isinstance(thread, BackgroundThread) and thread.native_id is not None}
