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
"""The command that reports on recordings: its table, page, pictures, JSON and exit codes."""

from dataclasses import replace
import json
from pathlib import Path
import re

from matplotlib.figure import Figure
import numpy as np
import pytest
from recorded_robots import recorded, swings
from ros2_rnea.model.description import Inertial, Pose
from ros2_rnea.offline.commands.report.picture import JointPictures
from ros2_rnea.offline.identification.comparison import compare
from ros2_rnea.offline.identification.conclusions import Conclusion, Estimate, Kind
from ros2_rnea.robots.adjustable_robot import AdjustableRobot
from ros2_rnea.robots.robot import Robot
from small_robots import ARM

main = pytest.importorskip('ros2_rnea.offline.commands.report.__main__').main
page = pytest.importorskip('ros2_rnea.offline.commands.report.page').page
evidence = pytest.importorskip('ros2_rnea.offline.commands.report.report').evidence
as_json = pytest.importorskip('ros2_rnea.offline.commands.report.report').as_json
Report = pytest.importorskip('ros2_rnea.offline.commands.report.report').Report

PAYLOAD = Inertial(1.3, Pose((0.02, 0.0, 0.1)), (0.003, 0.0, 0.0, 0.002, 0.0, 0.002))


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM)


@pytest.fixture(scope='module')
def loaded(arm):
    """Return a recording of the arm with a payload that its model lacks."""
    truth = arm.with_payload('box', 'lower', PAYLOAD)
    rng = np.random.default_rng(3)
    return recorded(truth, swings(truth, rng, duration=30.0), rng, name='with <box>')


@pytest.fixture
def call(tmp_path, monkeypatch, capsys, loaded):
    """Return a function that runs the command in a folder with a recording and a model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('COLUMNS', '80')
    Path('arm.urdf').write_text(ARM, encoding='utf-8')

    def run(*options, recording=loaded):
        columns = ['time']
        for kind in ('position', 'velocity', 'effort'):
            columns += [f'{joint}.{kind}' for joint in ('shoulder', 'elbow')]
        np.savetxt('swing.csv', np.column_stack(
            [recording.times, recording.q, recording.qd, recording.tau]), delimiter=',',
            header=','.join(columns), comments='')
        code = main(['swing.csv', '--urdf', 'arm.urdf', *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err
    return run


def test_the_load_is_reported_in_the_terminal_and_in_files(call):
    code, out, error = call('--json', 'all.json')
    assert (code, error) == (1, '')
    text = ' '.join(out.split())
    assert re.search(r"Link 'lower' carries 1\.[23]\d* ± [\d.]+ kg more than in the URDF", text)
    assert 'report/report.html written' in text
    assert max(map(len, out.splitlines())) <= 80
    assert [path.name for path in Path('report').iterdir()] == ['report.html']
    report = json.loads(Path('all.json').read_text(encoding='utf-8'))['reports'][0]
    load = next(each for each in report['conclusions'] if each['kind'] == 'load')
    assert load['quantities']['mass']['value'] == pytest.approx(PAYLOAD.mass, rel=0.1)
    assert load['rms']['shoulder']['after'] < load['rms']['shoulder']['before']
    assert [each['joint'] for each in report['joints']] == ['shoulder', 'elbow']
    assert any('swing' in remark for remark in report['remarks'])
    recording, = report['recordings']
    assert recording['delay'] == 0.0
    assert 'swing.csv, delay: ' in ' '.join(report['remarks'])


def test_a_dry_run_writes_nothing_and_prints_json(call):
    code, out, _ = call('--dry-run', '--json', '-')
    assert code == 1 and not Path('report').exists()
    assert json.loads(out)['reports'][0]['robot'] == 'arm'


def test_json_goes_into_a_file_beside_the_table(call):
    table = call('--dry-run', '--json', 'all.json')[1]
    assert not Path('all.json').exists()
    assert call('--json', 'all.json')[1].startswith(table)
    assert json.loads(Path('all.json').read_text(encoding='utf-8'))['reports']


def test_what_cannot_be_used_is_named(call):
    code, out, error = call('--urdf', 'nowhere.urdf')
    assert (code, out) == (2, '') and 'nowhere.urdf cannot be read' in error


def test_numbers_that_no_robot_has_are_named(call, loaded):
    code, out, error = call('--gravity', '0', '0', '1e300')
    assert (code, out) == (2, '') and '--gravity has 1e+300; it needs m/s^2' in error
    efforts = loaded.tau.copy()
    efforts[20, 1] = 1e300
    code, out, error = call(recording=replace(loaded, tau=efforts))
    assert (code, out) == (2, '') and "1e+300 among the efforts of 'elbow', in row 21" in error


def test_the_evidence_of_several_figures_is_of_all_together():
    one = Estimate('mass', 2.0, 0.1, 'kg')
    other = Estimate('centre x', 0.0, 0.1, 'm')
    assert evidence(Conclusion(Kind.LINK_MASS, '', '', '', (one,), 20.0)) == (
        'Evidence: 20 standard errors from zero.')
    assert evidence(Conclusion(Kind.LOAD, '', '', '', (one, other), 26.0)) == (
        'Evidence: together 26 standard errors from zero.')
    assert evidence(Conclusion(Kind.FRICTION, '', '', '', (one, other), 20.0)) == (
        'Evidence: the clearest figure is 20 standard errors from zero.')


def test_an_advice_is_told_once(arm, loaded):
    report = Report.of('model', [loaded], arm)
    both = tuple(Conclusion(Kind.ROTOR, each, each, 'Do this.', (), 9.0) for each in 'ab')
    report = replace(report, diagnosis=replace(report.diagnosis, conclusions=both))
    assert [advice for *_, advice in report.conclusions()] == ['Do this.', '']
    assert page([report]).count('Do this.') == 1


def test_a_model_that_is_right_has_no_conclusion(arm):
    rng = np.random.default_rng(5)
    recording = recorded(arm, swings(arm, rng), rng)
    report = Report.of('model', [recording], arm)
    assert report.diagnosis.conclusions == ()
    assert 'nothing wrong with the model' in page([report])


@pytest.mark.parametrize('gravity, is_drawn', [(1e-12, False), (1e-3, True)])
def test_gravity_that_is_the_rounding_of_a_zero_is_drawn_as_zero(arm, gravity, is_drawn):
    weightless = arm.with_gravity((0.0, 0.0, -gravity))
    axes = Figure().subplots()
    rng = np.random.default_rng(5)
    recording = recorded(weightless, swings(arm, rng), rng)
    JointPictures([compare([recording], weightless)], 0).against_gravity(axes)
    assert bool(np.nanmax(np.abs(axes.lines[0].get_xdata()))) is is_drawn


def test_the_exit_code_is_0_only_where_the_verdict_acquits(call, arm):
    rng = np.random.default_rng(5)
    right = recorded(arm, swings(arm, rng, duration=30.0), rng)
    constant = replace(right, tau=np.column_stack([right.tau[:, 0], np.full(len(right.tau), 3.0)]))
    short = replace(right, **{name: getattr(right, name)[:160] for name in (
        'times', 'q', 'qd', 'tau')})
    for recording, code, verdict in (
            (right, 0, 'show nothing wrong with the model.'),
            (constant, 1, 'show nothing that is certain to be wrong with shoulder.'),
            (short, 1, 'Nothing can be concluded.')):
        found, out, _ = call('--dry-run', recording=recording)
        assert (found, verdict in ' '.join(out.split())) == (code, True)


@pytest.mark.parametrize('alter', [
    lambda tau, qd: tau * [0.0, 1.0] + 2.0 * np.sign(qd), lambda tau, qd: 1.3 * tau + np.sign(qd)])
def test_the_verdict_does_not_acquit_where_a_question_is_open(arm, alter):
    rng = np.random.default_rng(2)
    recording = recorded(arm, swings(arm, rng), rng, noise=0.02, alter=alter)
    report = Report.of('model', [recording], arm)
    assert report.diagnosis.open_questions
    assert 'Nothing is wrong' not in report.verdict and 'nothing wrong' not in report.verdict


def test_an_effort_of_nothing_but_noise_is_named(arm):
    rng = np.random.default_rng(4)
    recording = recorded(arm, swings(arm, rng), rng)
    recording.tau[:, 1] = 0.02 * rng.standard_normal(len(recording.times))
    note, = (each for each in Report.of('model', [recording], arm).notes if 'but noise' in each)
    assert note.startswith('elbow: the recorded effort is nothing but noise')


def test_the_page_needs_nothing_else(arm, loaded):
    text = page([Report.of('model', [loaded], arm, ['a remark'])])
    assert 'with &lt;box&gt;' in text and 'with <box>' not in text
    assert 'a remark' in text
    assert text.count('<svg') == 6
    assert not re.search(r'<(script|link|img|iframe)\b|@import|url\((?!#)', text)
    # addresses are only names: of XML's namespaces and of SVG's metadata
    hosts = set(re.findall(r'https?://([\w.]+)', text))
    assert hosts <= {'www.w3.org', 'purl.org', 'creativecommons.org', 'matplotlib.org'}
    assert re.search(r'(?:href|src)="(?!#)', text) is None


def test_the_same_report_is_the_same_page(arm, loaded):
    report = Report.of('model', [loaded], arm)
    assert page([report]) == page([report])


def test_before_and_after_share_a_page(arm, loaded):
    before = Report.of('before', [loaded], arm)
    after = Report.of('after', [loaded], arm.with_payload('box', 'lower', PAYLOAD))
    text = page([before, after])
    assert text.count('<svg') == 6 and text.count('>model before<') == 2
    assert 'What the recordings say: before' in text and 'say: after' in text
    assert 'difference, before' in text and 'difference, after' in text
    assert after.diagnosis.conclusions == ()
    assert (after.comparison.difference_rms < before.comparison.difference_rms).all()


def test_a_joint_without_efforts_has_no_picture(arm, loaded):
    tau = loaded.tau.copy()
    tau[:, 1] = np.nan
    report = Report.of('model', [type(loaded)(**{**vars(loaded), 'tau': tau})], arm)
    text = page([report])
    assert text.count('<svg') == 3 and 'No effort was recorded. (One that is constant' in text


PARAMETERS = """/**:
  ros__parameters:
    damping: {shoulder: 0.5}
    friction.elbow: 0.25
    armature:
      elbow: 0.125
    gravity: [0.0, 0.0, -9.7]
    mode: feedforward
"""


def test_the_parameters_of_the_node_count_and_are_said_to(call, arm):
    Path('parameters.yaml').write_text(PARAMETERS, encoding='utf-8')
    truth = AdjustableRobot.of(
        arm.with_gravity((0.0, 0.0, -9.7)), optional_parameters=['armature'])
    truth.set_joint_parameters('damping', {'shoulder': 0.5})
    truth.set_joint_parameters('friction', {'elbow': 0.25})
    truth.set_joint_parameters('armature', {'elbow': 0.125})
    rng = np.random.default_rng(4)
    measured = recorded(truth, swings(truth, rng, duration=30.0), rng, noise=0.02)
    _, out, error = call(
        '--parameters', 'parameters.yaml', '--cutoff', 'inf', '--json', 'all.json',
        recording=measured)
    text = ' '.join(out.split())
    assert 'The model has damping, friction, armature, gravity of parameters.yaml' in text, error
    assert 'has friction already for shoulder, elbow' in text
    assert 'the inertia of rotors already for elbow (armature)' in text
    differing = [joint['difference_rms'] for joint in json.loads(Path(
        'all.json').read_text(encoding='utf-8'))['reports'][0]['joints']]
    assert max(differing) < 0.05  # 0.02 of noise; without the file some 0.3
    assert 'has friction already' in Path('report/report.html').read_text(encoding='utf-8')


@pytest.mark.parametrize(('text', 'options', 'said'), [
    ('/**: {ros__parameters: {damping: 3.0}}', (),
     'parameters.yaml: damping is 3.0; it needs a number for each joint'),
    ('/**: {ros__parameters: {gravity: 3.0}}', (),
     'parameters.yaml: gravity is 3.0; it needs 3 finite numbers'),
    (PARAMETERS.replace('shoulder', 'shuolder'), (),
     "parameters.yaml: 'arm' has no moving joint"),
    (PARAMETERS, ('--gravity', '0', '0', '9.81'),
     'parameters.yaml has gravity, [0.0, 0.0, -9.7]; leave out the option')])
def test_parameters_that_cannot_be_are_named_with_their_file(call, text, options, said):
    Path('parameters.yaml').write_text(text, encoding='utf-8')
    code, out, error = call('--parameters', 'parameters.yaml', *options)
    assert (code, out) == (2, '') and said in error


def test_notes_say_what_is_modelled_and_not_judged(arm, loaded):
    tau = loaded.tau.copy()
    tau[:, 1] = np.nan
    report = Report.of('model', [replace(
        loaded, tau=tau, payloads={'box': ('lower', PAYLOAD)})], arm.with_gravity((0, 0, 0)))
    notes = ' '.join(report.notes)
    assert 'payloads that were given (1.3 kg on lower)' in notes
    assert 'no other direction of gravity was searched' in notes
    assert "The effort of joint 'elbow' was not recorded, or is constant." in (
        report.diagnosis.open_questions)  # why dashes stand in its row
    assert as_json([report])['reports'][0]['notes'] == [*report.notes]
    only, = Report.of('model', [loaded], arm).notes
    assert only.startswith('The model has friction already for shoulder, so')


def test_the_page_says_why_a_result_is_doubtful(arm, loaded):
    before = Report.of('before', [loaded], arm, ['swing, gaps: none.'])
    after = Report.of('after', [loaded], arm, ['WARNING: the elbow is worse.'])
    text = page([before, after])
    places = [text.index(each) for each in ('WARNING: the elbow is worse.', '<h2>', 'swing, gaps')]
    assert places == sorted(places)


@pytest.mark.parametrize('width', [390, 1200])
def test_the_page_fits_a_phone_and_a_screen(arm, loaded, tmp_path, width):
    playwright = pytest.importorskip('playwright.sync_api')
    from shutil import which
    browser_path = which('chromium') or which('google-chrome')
    if browser_path is None:
        pytest.skip('there is no browser')
    path = tmp_path / 'report.html'
    path.write_text(page([Report.of('model', [loaded], arm)]), encoding='utf-8')
    with playwright.sync_playwright() as program:
        browser = program.chromium.launch(executable_path=browser_path, args=['--no-sandbox'])
        view = browser.new_page(viewport={'width': width, 'height': 800})
        said, asked = [], []
        view.on('console', lambda message: said.append(message.text))
        view.on('request', lambda request: asked.append(request.url))
        view.goto(path.as_uri())
        assert view.evaluate('document.documentElement.scrollWidth') <= width
        assert (said, asked) == ([], [path.as_uri()])
        browser.close()


def test_the_verdict_says_the_outcome_in_one_line(arm):
    rng = np.random.default_rng(3)
    right = Report.of('model', [recorded(arm, swings(arm, rng), rng)], arm)
    assert right.verdict == 'The recordings show nothing wrong with the model.'
    for found, verdict in (
            ({'conclusions': (Conclusion(Kind.LOAD, "link 'tool'", '', '', (), 9.0),)},
             "Something is wrong: load (link 'tool')."),
            ({'conclusions': (Conclusion(Kind.ROTOR, "joint 'elbow'", '', '', (), 9.0),)},
             "Nothing is wrong but friction, offset or rotor inertia of 'elbow': identify them, "
             'or set them.'),
            ({'is_explained': False}, 'Several numbers of the model are not true, or an effort or '
             'a position is not what the model takes it for: no single cause explains the '
             'difference.  Check the zero and the axis of each joint first, because a fit makes '
             'wrong masses of a wrong position; then identify the model.'),
            ({'inexplicable': ('elbow',)}, 'Nothing certain is wrong with the masses, but part of '
             'the effort of elbow follows from no model.'),
            ({'open_questions': ('Why?',)}, 'The recordings show nothing that is certain to be '
             'wrong with shoulder, elbow.'),
            ({'open_questions': ('Why?',), 'noise': np.array([np.nan, 0.1])}, 'The recordings '
             'show nothing that is certain to be wrong with elbow.  shoulder: not judged.'),
            ({'is_explained': False, 'noise': np.array([0.1, np.nan])}, 'Several numbers of the '
             'model are not true, or an effort or a position is not what the model takes it for: '
             'no single cause explains the difference.  Check the zero and the axis of each joint '
             'first, because a fit makes wrong masses of a wrong position; then identify the '
             'model.  elbow: not judged.'),
            ({'noise': np.full(2, np.nan)}, 'Nothing can be concluded.')):
        assert replace(right, diagnosis=replace(right.diagnosis, **found)).verdict == verdict
