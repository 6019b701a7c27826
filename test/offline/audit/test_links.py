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
"""What is found about the mass properties of single links, and what is not."""

from audited import findings_of_link
import pytest
from ros2_rnea.model.description import Inertial, Pose


def found(mass=1.0, inertia=(0.01, 0.0, 0.0, 0.01, 0.0, 0.01), xyz=(0.0, 0.0, 0.0), rpy=None):
    origin = Pose(xyz, rpy or (0.0, 0.0, 0.0))
    return findings_of_link(Inertial(mass, origin, inertia))


def diagonal(x, y, z):
    return (x, 0.0, 0.0, y, 0.0, z)


@pytest.mark.parametrize('inertia', [
    diagonal(0.01, 0.01, 0.01),
    diagonal(0.01, 0.01, 0.02),                      # a flat plate: 1 + 1 = 2
    diagonal(0.01, 0.01, 0.02 + 1e-8),               # the same, rounded when written down
    diagonal(0.0, 0.01, 0.01),                       # a thin rod
    (0.015, 0.005, 0.0, 0.015, 0.0, 0.02),           # principal moments 1, 2, 2
])
def test_an_inertia_that_a_body_can_have_is_no_finding(inertia):
    assert found(inertia=inertia) == []


@pytest.mark.parametrize('inertia', [
    diagonal(-1.0, 1.0, 1.0),
    (1.0, 2.0, 0.0, 1.0, 0.0, 1.0),                  # principal moments −1, 1, 3
    diagonal(1e-9, 1e-9, -1e-9),                     # small, but not a matter of rounding
])
def test_an_inertia_that_is_not_positive_is_impossible(inertia):
    [(kind, text)] = found(inertia=inertia)
    assert kind == 'INERTIA_NEGATIVE'
    assert text.startswith('its inertia is not positive: principal moments -')


@pytest.mark.parametrize('inertia', [
    diagonal(1.0, 1.0, 2.1),
    diagonal(2.1, 1.0, 1.0),
    diagonal(1.0, 1.0, 2.0 + 1e-4),
    (1.0, 0.9, 0.0, 1.0, 0.0, 1.0),                  # principal moments 0.1, 1, 1.9
    (1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6),            # one number for all six
    diagonal(1e-9, 1e-9, 3e-9),
])
def test_an_inertia_that_breaks_the_triangle_inequality_is_impossible(inertia):
    [(kind, text)] = found(inertia=inertia, mass=1e-4)
    assert kind == 'INERTIA_TRIANGLE'
    assert 'exceeds the sum of the other two' in text


def test_principal_moments_are_shown():
    [(_, text)] = found(inertia=diagonal(1.0, 5.0, 1.5))
    assert '1, 1.5, 5 kg m^2' in text


def test_a_rotational_inertia_without_mass_is_impossible():
    [(kind, text)] = found(mass=0.0)
    assert kind == 'INERTIA_WITHOUT_MASS'
    assert 'no mass' in text


def test_a_frame_with_nothing_in_it_is_no_finding():
    assert found(mass=0.0, inertia=(0.0,) * 6) == []


@pytest.mark.parametrize('inertia', [
    (0.0,) * 6,
    (2.7e-20, -1.7e-21, 1.4e-20, 5.4e-20, 3.4e-21, 1.4e-20),  # rounding of a CAD program
])
def test_a_mass_without_inertia_is_a_note(inertia):
    [(kind, text)] = found(mass=0.7, inertia=inertia)
    assert kind == 'POINT_MASS'
    assert '0.7 kg' in text


def test_too_large_an_inertia_for_the_mass_is_found():
    [(kind, text)] = found(mass=0.1, inertia=diagonal(0.1, 0.1, 0.1))
    assert kind == 'TOO_LIGHT'
    assert '0.1 kg with a radius of gyration of 1.22e+03 mm' in text


def test_too_large_a_mass_for_the_inertia_is_found():
    [(kind, text)] = found(mass=1.0, inertia=diagonal(1e-6, 1e-6, 1e-6))
    assert kind == 'TOO_DENSE'
    assert 'radius of gyration of 1.22 mm' in text


@pytest.mark.parametrize('density, kinds', [
    (8.0, ['TOO_LIGHT']), (15.0, []), (2700.0, []), (19_300.0, []), (30_000.0, ['TOO_DENSE'])])
def test_a_ball_of_foam_or_of_tungsten_is_no_finding(density, kinds):
    mass = density * 4.0 / 3.0 * 3.14159 * 0.05 ** 3
    moment = 0.4 * mass * 0.05 ** 2
    assert [kind for kind, _ in found(mass, diagonal(moment, moment, moment))] == kinds


def rod_about_its_end(mass=2.0, length=0.6, radius=0.03):
    across = mass * (length ** 2 / 3.0 + radius ** 2 / 4.0)
    return diagonal(mass * radius ** 2 / 2.0, across, across)


def test_an_inertia_about_the_link_origin_is_found():
    [(kind, text)] = found(2.0, rod_about_its_end(), xyz=(0.3, 0.0, 0.0))
    assert kind == 'WRONG_POINT'
    assert 'principal moment 0.24 kg m^2' in text
    assert 'would be 0.0605' in text


def test_inertia_about_the_link_origin_is_found_in_turned_axes():
    inertia = rod_about_its_end()
    turned = (inertia[3], 0.0, 0.0, inertia[0], 0.0, inertia[5])  # the rod lies along its y
    [(kind, _)] = found(2.0, turned, xyz=(0.3, 0.0, 0.0), rpy=(0.0, 0.0, 1.5707963))
    assert kind == 'WRONG_POINT'


def test_a_point_mass_s_inertia_about_the_origin_is_found():
    [(kind, _)] = found(1.0, diagonal(0.0, 0.25, 0.25), xyz=(0.5, 0.0, 0.0))
    assert kind == 'WRONG_POINT'


def test_a_compact_body_is_not_suspected_of_a_shift():
    mass = 40.0
    assert found(mass, rod_about_its_end(mass, 0.3, 0.08), xyz=(0.15, 0.0, 0.0)) == []


@pytest.mark.parametrize('xyz', [
    (0.0, 0.3, 0.0),                                 # across the rod
    (0.1, 0.0, 0.0),                                 # too near to matter
    (0.9, 0.0, 0.0),                                 # further than the inertia allows
])
def test_inertia_that_the_origin_explains_no_better_is_no_finding(xyz):
    assert found(2.0, rod_about_its_end(), xyz=xyz) == []


def test_a_rod_s_inertia_about_its_centre_is_no_finding():
    assert found(2.0, diagonal(0.0009, 0.06, 0.06), xyz=(0.3, 0.0, 0.0)) == []


@pytest.mark.parametrize('mass, moment, kinds', [
    (1e-3, 1e-5, []), (1e-3, 1e-3, ['TOO_LIGHT']), (0.1, 1e-9, ['TOO_DENSE'])])
def test_a_placeholder_is_no_finding_unless_it_counts(mass, moment, kinds):
    """Its mass counts from 1e-4 of the robot's, its inertia from 1e-6 m^2 times that."""
    rest = Inertial(100.0, inertia=diagonal(1.0, 1.0, 1.0))
    part = Inertial(mass, inertia=diagonal(moment, moment, moment))
    assert [kind for kind, _ in findings_of_link(part, rest)] == kinds


@pytest.mark.parametrize('values, words', [
    ({'mass': 1200.0, 'inertia': diagonal(50.0, 50.0, 50.0)}, ['1200 kg', 'grams']),
    ({'xyz': (0.0, 45.0, 0.0)}, ['45 m', 'millimetres']),
])
def test_other_units_are_suspected(values, words):
    [(kind, text)] = found(**values)
    assert kind == 'UNITS'
    for word in words:
        assert word in text
