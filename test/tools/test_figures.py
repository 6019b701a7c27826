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
"""What the demo computes from what it recorded."""

import numpy as np
import pytest

from ros2_rnea.tools.demo.figures import Recording, Section

TIMES = np.linspace(0.0, 1.0, 1001)


@pytest.fixture
def recording():
    """Return a recording of two joints, a sine of 0.4 degrees and a constant -0.3."""
    errors = np.stack((0.4 * np.sin(2.0 * np.pi * TIMES), np.full(1001, -0.3)), axis=1)
    return Recording(TIMES, errors, {})


def test_rms_and_maximum_are_by_joint(recording):
    assert recording.rms == pytest.approx([0.4 / np.sqrt(2.0), 0.3], rel=1e-3)
    assert recording.maximum == pytest.approx([0.4, 0.3], rel=1e-5)


def test_the_arm_is_the_root_of_the_joints_summed_squares(recording):
    assert recording.arm_rms == pytest.approx(np.hypot(0.4 / np.sqrt(2.0), 0.3), rel=1e-3)
    assert recording.arm_errors[250] == pytest.approx(0.5)


def test_a_recording_minus_itself_at_other_times_is_nothing(recording):
    later = Recording(TIMES[5::7] + 0.0003, np.stack(
        (0.4 * np.sin(2.0 * np.pi * (TIMES[5::7] + 0.0003)), np.full(143, -0.3)), axis=1), {})
    assert later.minus(recording).arm_rms < 1e-5


def test_the_error_that_a_force_adds_is_beyond_full_feedforward(make_results):
    results = make_results(feedforward=0.01, tip_force=0.11)
    assert results.added_error('tip_force') == pytest.approx(0.1 * np.sqrt(7.0))


def test_shares_of_the_late_count_over_all_phases(make_results):
    results = make_results(timing={'older_than_20_ms': 7, 'states_published': 100,
                                   'engine_20_ms_late': 3, 'engine_ticks': 1000})
    assert results.share_late() == pytest.approx(0.07)
    assert results.share_slow() == pytest.approx(0.003)


def test_phases_without_any_command_are_not_late(make_results):
    timing = {'states_answered': 0, 'older_than_20_ms': 3500}
    assert make_results(timing=timing).share_late() == 0.0


def test_the_error_of_a_section_is_that_after_settling(make_episode):
    episode = make_episode(errors=(0.01, 1.0, 0.02))
    assert [episode.rms(section) for section in episode.sections] == pytest.approx(
        np.array([0.01, 1.0, 0.02]) * np.sqrt(7.0))
    settled_late = Section('from the middle of the second', 1.0, 4.0, settling=2.0)
    assert episode.rms(settled_late) == pytest.approx(np.sqrt(7.0))
    early = Section('0.7 s of the first section, then the second', 1.3, 4.0)
    assert episode.rms(early) == pytest.approx(np.sqrt(7.0))
    assert np.isnan(episode.rms(Section('too short to settle', 1.0, 1.7)))
    assert np.isnan(make_episode(errors=(0.01, np.nan, 0.0)).rms(episode.sections[1]))


def test_telling_improves_the_last_section_over_the_one_before(make_episode):
    assert make_episode(errors=(0.01, 1.0, 0.02)).improvement == pytest.approx(50.0)


def test_the_largest_step_is_that_of_any_joint(make_episode):
    episode = make_episode(step=-3.0)
    assert [episode.largest_step(section) for section in episode.sections] == [0.0, 3.0, 0.0]
    assert episode.largest_step() == 3.0


def test_a_step_across_a_pause_counts(make_episode):
    assert make_episode(step=3.0, silent=(2.5, 3.5)).largest_step() == 3.0


@pytest.mark.parametrize(('silent', 'seconds'), [
    ((2.5, 4.0), 0.49), ((2.0, 4.0), 0.0), ((2.5, 3.0), 1.99), ((0.0, 6.0), 0.0)])
def test_how_long_efforts_still_come(make_episode, silent, seconds):
    episode = make_episode(silent=silent)
    assert episode.sent_after(episode.sections[1]) == pytest.approx(seconds)


def test_the_last_effort_is_held_against_the_right_one(make_episode):
    right = np.ones(7)
    assert make_episode(step=0.5, right_effort=right).final_deviation == pytest.approx(0.5)
    assert np.isnan(make_episode().final_deviation)
    assert np.isnan(make_episode(silent=(0.0, 6.0), right_effort=right).final_deviation)


def test_late_answers_in_other_scenes_count_too(make_results, make_episode):
    late = {'payload': make_episode(states_published=100, older_than_20_ms=7)}
    assert make_results(phases=(), episodes=late).share_late() == pytest.approx(0.07)
