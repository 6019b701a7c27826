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
"""Start an installed inverse_dynamics_node; check that others see it and that SIGINT ends it."""

import os
import signal
import subprocess
import sys
from time import monotonic

import rclpy
from rclpy.node import Node
from ros2_rnea.tools.ros_domain import reserve_domain
from ros2_rnea_interfaces.srv import ComputeGravity

NAME = 'inverse_dynamics'
PATIENCE = 300.0  # [s]; the machine may be busy


def wait_for_gravity_service(observer: Node, child: subprocess.Popen) -> None:
    client = observer.create_client(ComputeGravity, f'/{NAME}/compute_gravity')
    deadline = monotonic() + PATIENCE
    while not client.wait_for_service(timeout_sec=0.2):
        if child.poll() is not None:
            sys.exit(f'the node ended by itself with code {child.returncode}')
        if monotonic() > deadline:
            sys.exit(f'no service ~/compute_gravity of {NAME} within {PATIENCE:g} s')


def main() -> None:
    os.environ['ROS_DOMAIN_ID'] = str(reserve_domain())
    rclpy.init()
    observer = rclpy.create_node('observer')
    child = subprocess.Popen([sys.argv[1]])
    try:
        wait_for_gravity_service(observer, child)
        child.send_signal(signal.SIGINT)
        code = child.wait(timeout=PATIENCE)
    finally:
        child.kill()
        child.wait()
        observer.destroy_node()
        rclpy.shutdown()
    if code != 0:
        sys.exit(f'SIGINT ended the node with code {code}')
    print(f'{sys.argv[1]}: came up, ended cleanly')


if __name__ == '__main__':
    main()
