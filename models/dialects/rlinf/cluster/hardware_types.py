"""The hardware types that RLinf can configure on a node, and the fields of each.

Source: RLinf, rlinf/scheduler/hardware/robots/*.py (commit a3816b59).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

_CAMERAS = ("realsense", "zed", "lumos")
_GRIPPERS = ("franka", "robotiq")


@dataclass(frozen=True)
class HardwareType:
    """`fields` besides the required `node_rank`; `addresses` must be IP addresses; `strict` and `known` list the values
    of a field: RLinf refuses another one of `strict` when it reads the file, of `known` at the earliest on the node.
    `counted_by`: where the file configures none for a node, RLinf makes one for every value that the node's environment
    variables of these fields hold (auto_config.py, RobotAutoConfig).
    """

    fields: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    strict: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controllers: tuple[str, ...] = ()
    counted_by: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that count them."""
        return tuple(name.upper() for name in self.counted_by)


def _both(name: str) -> tuple[str, str]:
    return f"left_{name}", f"right_{name}"


HARDWARE_TYPES: Mapping[str, HardwareType] = {
    "Franka": HardwareType(
        (
            "robot_ip", "camera_serials", "camera_type", "gripper_type", "gripper_connection", "controller_node_rank",
            "disable_validate",
        ),
        addresses=("robot_ip",),
        known={"camera_type": _CAMERAS, "gripper_type": _GRIPPERS},
        controllers=("controller_node_rank",),
        counted_by=("robot_ip",),
    ),
    "DualFranka": HardwareType(
        (
            *_both("robot_ip"), "base_camera_serials", *_both("camera_serials"), "camera_type", "base_camera_type",
            *_both("camera_type"), *_both("gripper_type"), *_both("gripper_connection"), *_both("controller_node_rank"),
        ),
        addresses=_both("robot_ip"),
        known={
            **dict.fromkeys(("camera_type", "base_camera_type", *_both("camera_type")), _CAMERAS),
            **dict.fromkeys(_both("gripper_type"), _GRIPPERS),
        },
        controllers=_both("controller_node_rank"),
        counted_by=_both("robot_ip"),
    ),
    "Turtle2": HardwareType(()),
    "GimArm": HardwareType(
        (
            "can_interface", "arm_variant", "camera_serials", "camera_type", "enable_gripper", "gripper_type",
            "controller_node_rank", "disable_validate",
        ),
        strict={"arm_variant": ("gim_arm", "gim_arm_xl")},
        known={"camera_type": ("realsense", "zed"), "gripper_type": ("parallel", "single_side")},
        controllers=("controller_node_rank",),
        counted_by=("can_interface",),
    ),
    "DOSW1": HardwareType(
        ("robot_url", "left_arm_port", "right_arm_port", "left_lead_port", "right_lead_port", "camera_serials"),
        counted_by=("robot_url",),
    ),
}  # fmt: skip
