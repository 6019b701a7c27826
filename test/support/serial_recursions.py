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
Oracles: four recursions for serial arms, each the way its document describes it.

They share nothing but the numbers of the arm and return the same efforts; that they do, and that
the slips of the documents do not, is shown in test/oracles.  Where a document slips, the recursion
here has the corrected line, and the slip can be chosen by a keyword, for the tests.

A tip wrench is what the environment does to the last link, [moment; force] in the frame of the
last link, about its origin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from rotations import frame_with_z_along, rotation_about, rotation_from_rpy, skew

Z = np.array([0.0, 0.0, 1.0])
GRAVITY = np.array([0.0, 0.0, -9.81])
NO_WRENCH = np.zeros(6)
ONE = np.eye(3)


@dataclass(frozen=True, eq=False)
class SerialArm:
    """
    A serial arm; the entries of each list are for links 1..n, joint i carries link i.

    Frame i stands on joint i and moves with link i.  At q_i = 0 its orientation in frame i-1 is
    ``R_home`` and its origin there is ``p_home``.  ``axis`` and ``com`` are in frame i;
    ``inertia`` is about the centre of mass in the axes of frame i.
    """

    R_home: list
    p_home: list
    axis: list
    prismatic: list
    mass: list
    com: list
    inertia: list

    def __len__(self):
        """Return the number of joints."""
        return len(self.mass)

    def placements(self, q):
        """Return for each joint R (frame i to frame i-1) and p (origin of i in frame i-1)."""
        R, p = [], []
        for i, position in enumerate(q):
            turned = ONE if self.prismatic[i] else rotation_about(self.axis[i], position)
            slid = self.axis[i] * position if self.prismatic[i] else np.zeros(3)
            R.append(self.R_home[i] @ turned)
            p.append(self.p_home[i] + self.R_home[i] @ slid)
        return R, p


def serial_arm(robot):
    """Return the arm of a robot without branches whose joints are revolute or prismatic."""
    joints = robot.depth_first()
    links = [robot.link(joint.child) for joint in joints]
    return SerialArm(
        R_home=[rotation_from_rpy(joint.rpy) for joint in joints],
        p_home=[joint.xyz for joint in joints],
        axis=[joint.axis for joint in joints],
        prismatic=[joint.kind == 'prismatic' for joint in joints],
        mass=[link.mass for link in links],
        com=[link.com for link in links],
        inertia=[link.inertia_in_link_axes() for link in links])


def with_axes_along_z(arm):
    """Return the same arm with each frame turned so that its joint's axis is its z axis."""
    A = [frame_with_z_along(axis) for axis in arm.axis]
    below = [ONE] + A[:-1]
    return replace(
        arm,
        R_home=[B.T @ R @ C for B, R, C in zip(below, arm.R_home, A)],
        p_home=[B.T @ p for B, p in zip(below, arm.p_home)],
        axis=[Z] * len(arm),
        com=[C.T @ c for C, c in zip(A, arm.com)],
        inertia=[C.T @ inertia @ C for C, inertia in zip(A, arm.inertia)])


def _in_last_frame(arm, wrench):
    """Return a wrench in the turned axes of the last frame of with_axes_along_z(arm)."""
    A = frame_with_z_along(arm.axis[-1])
    return np.concatenate([A.T @ wrench[:3], A.T @ wrench[3:]])


def seven_dof(arm, q, qd, qdd, gravity=GRAVITY, R_world_base=ONE, tip_wrench=NO_WRENCH,
              R_printed_direction=False, project_in_parent=False):
    """
    Return tau by the classical 3-D recursion for revolute joints about z.

    'Recursive Newton-Euler Algorithm (RNEA) - Mathematical Documentation', for a 7-joint arm.

    :param R_world_base: orientation of the base: base axes to world axes
    :param R_printed_direction: slip: take R_{i-1,i} for the map from frame i-1 to frame i
    :param project_in_parent: slip: project the moment after it was moved to the parent's frame
    """
    if any(arm.prismatic):
        raise ValueError('this recursion is for revolute joints')
    z_arm, wrench = with_axes_along_z(arm), _in_last_frame(arm, tip_wrench)
    n = len(arm)
    R, p = z_arm.placements(q)
    if R_printed_direction:
        R = [rotation.T for rotation in R]
    omega, alpha, acc = np.zeros(3), np.zeros(3), -R_world_base.T @ gravity
    F, N = [], []
    for i in range(n):
        acc = R[i].T @ (acc + np.cross(alpha, p[i]) + np.cross(omega, np.cross(omega, p[i])))
        omega = R[i].T @ omega + qd[i] * Z
        alpha = R[i].T @ alpha + np.cross(omega, qd[i] * Z) + qdd[i] * Z
        c, inertia = z_arm.com[i], z_arm.inertia[i]
        acc_com = acc + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))
        F.append(z_arm.mass[i] * acc_com)
        N.append(inertia @ alpha + np.cross(omega, inertia @ omega))
    tau = np.zeros(n)
    f, m = -wrench[3:], -wrench[:3]  # the arm holds against what the environment does
    for i in reversed(range(n)):
        f = f + F[i]
        m = m + N[i] + np.cross(z_arm.com[i], F[i])
        tau[i] = m @ Z
        f = R[i] @ f
        m = R[i] @ m + np.cross(p[i], f)
        if project_in_parent:
            tau[i] = m @ Z
    return tau


def hollerbach(arm, q, qd, qdd, gravity=GRAVITY, tip_wrench=NO_WRENCH,
               r_ii=lambda r, d: r - d, inertia_in_base_axes=True):
    """
    Return tau by boxes 1-4 and A-E, rotary and prismatic joints, all vectors in base axes.

    Hollerbach's course notes 'Recursive Newton-Euler Algorithm for a Serial Manipulator'.
    Frame i-1 of the notes stands where joint i is and stays with link i-1, so d_{i-1,i} goes
    from joint i to joint i+1 and r_{i-1,i} from joint i to the centre of mass of link i.

    :param r_ii: what box D takes for r_ii, from r_{i-1,i} and d_{i-1,i}
    :param inertia_in_base_axes: slip where False: take I_i in the axes of the link
    """
    n = len(arm)
    R_links, z, d, r = [], [], [], []
    R_below = ONE
    for i in range(n):
        R_joint = R_below @ arm.R_home[i]
        z.append(R_joint @ arm.axis[i])
        slid = z[i] * q[i] if arm.prismatic[i] else np.zeros(3)  # r and d depend on it
        R_below = R_joint if arm.prismatic[i] else R_joint @ rotation_about(arm.axis[i], q[i])
        R_links.append(R_below)
        to_next = arm.p_home[i + 1] if i + 1 < n else np.zeros(3)
        d.append(slid + R_below @ to_next)
        r.append(slid + R_below @ arm.com[i])

    omega, omega_dot, d_ddot = np.zeros(3), np.zeros(3), np.zeros(3)
    f_links, n_links = [], []
    for i in range(n):
        along = np.zeros(3)
        if arm.prismatic[i]:
            along = 2.0 * qd[i] * np.cross(omega, z[i]) + qdd[i] * z[i]
        else:
            omega_dot = omega_dot + qdd[i] * z[i] + qd[i] * np.cross(omega, z[i])    # box 2
            omega = omega + qd[i] * z[i]                                             # box 1
        r_ddot = (d_ddot + np.cross(omega_dot, r[i])
                  + np.cross(omega, np.cross(omega, r[i])) + along)                  # box 4
        d_ddot = (d_ddot + np.cross(omega_dot, d[i])
                  + np.cross(omega, np.cross(omega, d[i])) + along)                  # box 3
        R = R_links[i] if inertia_in_base_axes else ONE
        inertia = R @ arm.inertia[i] @ R.T
        f_links.append(arm.mass[i] * r_ddot)                                         # box A
        n_links.append(inertia @ omega_dot + np.cross(omega, inertia @ omega))       # box B

    tau = np.zeros(n)
    force, moment = -R_links[-1] @ tip_wrench[3:], -R_links[-1] @ tip_wrench[:3]
    for i in reversed(range(n)):
        force_next = force
        force = f_links[i] + force_next - arm.mass[i] * gravity                      # box C
        moment = (n_links[i] + moment + np.cross(r[i], force)
                  - np.cross(r_ii(r[i], d[i]), force_next))                          # box D
        tau[i] = z[i] @ (force if arm.prismatic[i] else moment)                      # box E
    return tau


def manipulator(arm, q, qd, qdd, gravity=GRAVITY, tip_wrench=NO_WRENCH,
                outward_as_printed=False, prismatic_coriolis=True, prismatic_slides=True,
                prismatic_turns=False):
    """
    Return tau by the classical recursion in body axes, revolute and prismatic joints along z.

    'Manipulator Dynamics: Newton-Euler and Lagrangian Formulations' (after Spong and Lynch &
    Park), with frames at the proximal joint as its inward pass has them.

    :param outward_as_printed: slip: the acceleration of the origin by link i's own motion
    :param prismatic_coriolis: slip where False: no 2 omega x d_dot z
    :param prismatic_slides: slip where False: r does not depend on q
    :param prismatic_turns: slip: the velocity of a prismatic joint enters omega
    """
    z_arm, wrench = with_axes_along_z(arm), _in_last_frame(arm, tip_wrench)
    n = len(arm)
    R, r = z_arm.placements(q)  # R[i] maps frame i to frame i-1
    if not prismatic_slides:
        r = [home if slides else origin
             for home, slides, origin in zip(z_arm.p_home, arm.prismatic, r)]
    omega, omega_dot, v_dot = np.zeros(3), np.zeros(3), -gravity
    F, N = [], []
    for i in range(n):
        down = R[i].T
        turns = not arm.prismatic[i] or prismatic_turns
        omega_below, omega_dot_below = omega, omega_dot
        omega = down @ omega + turns * qd[i] * Z
        omega_dot = (down @ omega_dot + turns
                     * (np.cross(down @ omega_below, qd[i] * Z) + qdd[i] * Z))
        if outward_as_printed:
            v_dot = (down @ v_dot + np.cross(omega_dot, r[i])
                     + np.cross(omega, np.cross(omega, r[i])))
        else:
            v_dot = down @ (v_dot + np.cross(omega_dot_below, r[i])
                            + np.cross(omega_below, np.cross(omega_below, r[i])))
        if arm.prismatic[i]:
            v_dot = v_dot + qdd[i] * Z
            if prismatic_coriolis:
                v_dot = v_dot + 2.0 * np.cross(omega, qd[i] * Z)
        c, inertia = z_arm.com[i], z_arm.inertia[i]
        v_dot_com = v_dot + np.cross(omega_dot, c) + np.cross(omega, np.cross(omega, c))
        F.append(z_arm.mass[i] * v_dot_com)
        N.append(inertia @ omega_dot + np.cross(omega, inertia @ omega))
    tau = np.zeros(n)
    f, m = -wrench[3:], -wrench[:3]
    for i in reversed(range(n)):
        # f and m come in as what link i exerts on link i+1, in frame i, about the origin of i+1.
        r_next = r[i + 1] if i + 1 < n else np.zeros(3)
        m = m + np.cross(z_arm.com[i], F[i]) + np.cross(r_next, f) + N[i]
        f = f + F[i]
        tau[i] = (f if arm.prismatic[i] else m) @ Z
        f, m = R[i] @ f, R[i] @ m
    return tau


# ---- the body-frame recursion of Lynch & Park -----------------------------------------------


def transform_matrix(R, p):
    """Return the 4x4 homogeneous transform of an orientation and a position."""
    return np.block([[R, np.reshape(p, (3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])


def adjoint(T):
    """Return Ad_T, which maps twists by the transform T."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def small_adjoint(V):
    """Return ad_V, the Lie bracket [V, .]."""
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def screw_exponential(A, theta):
    """Return exp([A] theta) for a unit screw: |omega| = 1, or omega = 0 and |v| = 1."""
    omega, v = A[:3], A[3:]
    if not np.any(omega):
        return transform_matrix(ONE, v * theta)
    K = skew(omega)
    p = (theta * ONE + (1.0 - np.cos(theta)) * K + (theta - np.sin(theta)) * K @ K) @ v
    return transform_matrix(rotation_about(omega, theta), p)


def body_frame(arm, q, qd, qdd, gravity=GRAVITY, tip_wrench=NO_WRENCH,
               frames_at_com=True, start_acceleration=True):
    """
    Return tau by the twist and wrench recursion, in frames at the centres of mass.

    Lynch & Park as 'Manipulator Dynamics: Newton-Euler and Lagrangian Formulations' has it.

    :param frames_at_com: slip where False: the same block-diagonal G in the frame of the joint
    :param start_acceleration: slip where False: no start value, so no gravity
    """
    n = len(arm)
    shift = [com if frames_at_com else np.zeros(3) for com in arm.com]
    M, A, G = [], [], []  # home transform to the parent's frame, screw axis, inertia
    below = np.zeros(3)
    for i in range(n):
        home = arm.p_home[i] + arm.R_home[i] @ shift[i] - below
        M.append(transform_matrix(arm.R_home[i], home))
        zero, axis = np.zeros(3), arm.axis[i]
        A.append(np.concatenate([zero, axis] if arm.prismatic[i]
                                else [axis, np.cross(axis, shift[i])]))
        G.append(np.block([[arm.inertia[i], np.zeros((3, 3))],
                           [np.zeros((3, 3)), arm.mass[i] * ONE]]))
        below = shift[i]

    V = np.zeros(6)
    V_dot = np.concatenate([np.zeros(3), -gravity]) * start_acceleration
    down, twists, rates = [], [], []
    for i in range(n):
        T = screw_exponential(-A[i], q[i]) @ np.linalg.inv(M[i])  # T_{i,i-1}
        down.append(adjoint(T))
        V = down[i] @ V + A[i] * qd[i]
        V_dot = down[i] @ V_dot + small_adjoint(V) @ A[i] * qd[i] + A[i] * qdd[i]
        twists.append(V)
        rates.append(V_dot)

    tau = np.zeros(n)
    # The load at the tip, from the origin of the last link to its centre of mass.
    to_link = adjoint(transform_matrix(ONE, shift[-1]))
    wrench = -to_link.T @ tip_wrench
    for i in reversed(range(n)):
        momentum = G[i] @ twists[i]
        wrench = wrench + G[i] @ rates[i] - small_adjoint(twists[i]).T @ momentum
        tau[i] = wrench @ A[i]
        wrench = down[i].T @ wrench
    return tau
