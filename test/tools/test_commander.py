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
"""The demo's own node asks again where an answer is lost."""

from itertools import count

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('ros2_rnea_interfaces')

from ros2_rnea.tools.demo.commander import Commander, NoAnswerError  # noqa: E402


class Request:
    """A request under way; the one that is answered has a number."""

    def __init__(self, number, answered):
        self.number, self.answered = number, answered

    def done(self):
        return self.number == self.answered

    def result(self):
        return self.number


class Service:
    """A client of a service that answers one of the requests, the others being lost."""

    srv_name = 'enable'

    def __init__(self, answered):
        self.answered = answered
        self.pending, self.number = [], count()

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.pending.append(Request(next(self.number), self.answered))
        return self.pending[-1]

    def remove_pending_request(self, future):
        self.pending.remove(future)


@pytest.fixture
def commander():
    """Return a commander without a node, whose time goes on while it waits."""
    commander, time = object.__new__(Commander), count(step=20_000_000)
    commander.now = lambda: next(time)
    commander._spin_once = lambda timeout: None
    return commander


@pytest.mark.parametrize('answered', [0, 1, 4])
def test_a_request_is_sent_again_until_there_is_an_answer(commander, answered):
    service = Service(answered)
    assert commander._call(service, 'request') == answered
    assert not service.pending
    assert next(service.number) == answered + 1


def test_it_is_not_sent_without_end(commander):
    service = Service(answered=None)
    with pytest.raises(NoAnswerError, match='in vain for an answer of the service enable'):
        commander._call(service, 'request')
    assert not service.pending
    assert next(service.number) < 10
