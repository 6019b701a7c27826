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
"""The picture of the efforts and errors over time."""

from dataclasses import replace

from matplotlib.figure import Figure
from matplotlib.text import Text
import numpy as np
import pytest

from ros2_rnea.tools.demo import timeline
from ros2_rnea.tools.demo.figures import Section
from ros2_rnea.tools.demo.timeline import arrange, draw_timeline, with_gaps


@pytest.mark.parametrize(('times', 'drawn'), [
    ([0.0, 0.01, 0.02], '...'),
    ([0.0, 0.01, 0.5, 0.51], '.. ..'),
    ([0.0, 1.0, 2.0], '. . .'),
    ([0.0], '.'),
    ([], ''),
])
def test_curves_are_interrupted_where_nothing_came(times, drawn):
    values = np.column_stack((times, times))
    for kind in (values, values[:, 0]):
        xs, ys = with_gaps(np.array(times), kind)
        assert ''.join(' ' if np.isnan(x) else '.' for x in xs) == drawn
        assert np.array_equal(np.isnan(xs), np.isnan(ys if ys.ndim == 1 else ys[:, 0]))
        assert len(ys) == len(xs)


@pytest.mark.parametrize(('name', 'beginning'), [
    ('timeline.png', b'\x89PNG'), ('timeline.svg', b'<?xml')])
def test_the_picture_is_drawn(make_results, make_episode, tmp_path, name, beginning):
    episodes = {'payload': make_episode(),
                'restart': make_episode(title='driver dies', silent=(2.1, 4.0))}
    path = tmp_path / name
    draw_timeline(make_results(phases=(), episodes=episodes), path)
    assert path.read_bytes().startswith(beginning)


def test_the_joint_of_largest_effort_is_drawn_alone(make_results, make_episode, tmp_path):
    path = tmp_path / 'timeline.svg'
    draw_timeline(make_results(phases=(), episodes={'stop': make_episode(step=-9.0)}), path)
    assert '<!-- joint4 [Nm] -->' in path.read_text()


def test_titles_of_scenes_do_not_touch_however_long_the_scenes_are(
        make_results, make_episode, tmp_path, monkeypatch):
    titles = ('push of 25 N', '2 kg picked up', 'mount tilted by 30°', 'driver dies', 'node dies',
              'goal aborted', 'disabled')
    figures = []
    monkeypatch.setattr(timeline, 'save', lambda figure, *_: figures.append(figure))
    for lengths in ((7, 10, 10, 24, 19, 4, 5), (7, 100, 10, 9, 6, 1, 1)):
        episodes = {
            title: replace(make_episode(title=title), sections=(Section('before', 0.0, length),))
            for title, length in zip(titles, lengths)}
        draw_timeline(make_results(phases=(), episodes=episodes), tmp_path / 'timeline.png')
        boxes = [text.get_window_extent() for title in titles
                 for text in figures[-1].findobj(Text) if text.get_text() == title]
        assert all(one.x1 < other.x0 for one, other in zip(boxes, boxes[1:]))
        assert boxes[-1].x1 < figures[-1].bbox.x1


@pytest.mark.parametrize('names, lengths', [
    (('holds', 'dead', 'back'), (0.3, 4.0, 0.3)),
    (('follows', 'braked', 'held'), (2.5, 0.2, 0.4)),
    (('known from wrench',), (4.0,)),
    (('follows', 'stopped'), (3.9, 0.1))])
def test_titles_of_sections_stay_in_the_frame_and_do_not_touch(names, lengths):
    figure = Figure(figsize=(2.0, 2.0), dpi=100)
    axes = figure.subplots()
    axes.set_xlim(0.0, sum(lengths))
    titles = [axes.annotate(
        name, (sum(lengths[:number]), 1.0), (2.0, 3.0), fontsize=7.5, annotation_clip=False,
        xycoords=('data', 'axes fraction'), textcoords='offset points')
        for number, name in enumerate(names)]
    arrange(titles, axes)
    frame = axes.get_window_extent()
    boxes = [title.get_window_extent() for title in titles]
    for number, box in enumerate(boxes):
        assert frame.x0 - 0.1 <= box.x0 and box.x1 <= frame.x1 + 0.1
        assert not any(box.overlaps(other) for other in boxes[:number])
