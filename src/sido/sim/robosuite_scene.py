"""Scenes made of robosuite's models. robosuite builds them once; it steps nothing."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos.action_spec import ActionSpec
from sido.errors import SettingError
from sido.geometry import Pose, Transform
from sido.sim.arm import ArmModel, GripperModel
from sido.sim.free_object import free_object
from sido.sim.mjcf import add_camera
from sido.sim.osc import OscSettings
from sido.sim.physics import physics_of
from sido.sim.scene import Scene
from sido.sim.silence import silence

__all__ = ["CLOSE_VIEW", "SPECTATOR", "TASKS", "arm_of", "build_scene", "make_environment", "osc_of", "scene_of"]

TASKS = ("Stack", "NutAssemblySquare")

SPECTATOR = "spectator"
"""A camera that every scene has beside robosuite's own: where people watch from, before the table and to the robot's
left."""
_SPECTATOR_M, _SPECTATOR_SEES_M, _SPECTATOR_FOVY_DEG = (0.63, -0.85, 1.48), (-0.03, 0.03, 0.90), 34.0
"""World frame."""

CLOSE_VIEW = "closeview"
"""A camera beside `agentview` that looks at where things happen and nothing else. In 64 pixels of robosuite's own view,
a cube is four pixels wide; in these, eleven."""
_CLOSE_VIEWS = {
    "Stack": ((0.5, 0.0, 1.35), (-0.03, 0.0, 0.83), 28.0),
    "NutAssemblySquare": ((0.62, 0.10, 1.45), (0.06, 0.13, 0.85), 33.0),
}
"""Where it stands, what is in the middle of its picture (metres, world frame), and its vertical angle, degrees."""

NEVER_TOUCH = (("robot0_link0", "robot0_link1"),)
"""Bodies of the Panda between which no contact is looked for. The first link turns about the vertical, 1 mm above its
foot, so that there is none in any posture; but their hulls are the model's largest, and asking took 7 % of a step."""

DATA_MIB = 64
"""Memory that MuJoCo keeps for one environment's contacts. robosuite asks for 1.3 GB, and a step uses under 1 MB."""


def build_scene(task: str, *, gripper: str = "default") -> Scene:
    """The scene of a robosuite task with a Panda; a few seconds.

    Args:
        task: One of `TASKS`.
        gripper: robosuite's name of it, such as `"Robotiq85Gripper"`; by default the arm's own.

    Raises:
        SettingError: no such task or gripper.
    """
    environment = make_environment(task, gripper=gripper)
    scene = scene_of(environment)
    environment.close()
    return scene


def make_environment(task: str, *, gripper: str = "default", osc: OscSettings | None = None) -> Any:
    """An environment of robosuite's own: without cameras, without noise at the start, reset, and silent.

    Args:
        task: One of `TASKS`.
        gripper: robosuite's name of it.
        osc: How its controller is set; by default as robosuite has it, relative.
    """
    if task not in TASKS:
        raise SettingError("unknown robosuite task", found=repr(task), expected=", ".join(TASKS))
    with silence():
        import robosuite
        from robosuite.controllers import load_composite_controller_config
        from robosuite.models.grippers import GRIPPER_MAPPING

        if gripper != "default" and gripper not in GRIPPER_MAPPING:
            known = sorted(name for name in GRIPPER_MAPPING if name)
            raise SettingError("unknown gripper", found=repr(gripper), expected=", ".join(known))
        controller: Any = load_composite_controller_config(controller="BASIC", robot="Panda")
        if osc is not None:
            controller["body_parts"]["right"].update(_controller_config(osc))
        environment = robosuite.make(
            task,
            robots="Panda",
            gripper_types=gripper,
            controller_configs=controller,
            initialization_noise=None,
            has_renderer=False,
            has_offscreen_renderer=False,
            use_camera_obs=False,
            ignore_done=True,
            control_freq=20 if osc is None else osc.action_spec.rate_hz,
            hard_reset=False,
            seed=0,
        )
        environment.reset()
    return environment


def scene_of(environment: Any) -> Scene:
    """What a robosuite environment is made of, compiled anew: the environment's own model stays its own."""
    with silence():
        xml: str = environment.edit_model_xml(environment.model.get_xml())
    name = type(environment).__name__
    root = ElementTree.fromstring(xml)
    _take_little_memory(root)
    _leave_out(root, NEVER_TOUCH)
    if root.find(f"worldbody/camera[@name='{SPECTATOR}']") is None:
        add_camera(root, SPECTATOR, _SPECTATOR_M, _SPECTATOR_SEES_M, fovy_deg=_SPECTATOR_FOVY_DEG)
    if name in _CLOSE_VIEWS:
        stands_m, sees_m, fovy_deg = _CLOSE_VIEWS[name]
        add_camera(root, CLOSE_VIEW, stands_m, sees_m, fovy_deg=fovy_deg)
    xml = ElementTree.tostring(root, encoding="unicode")
    model = mujoco.MjModel.from_xml_string(xml)
    # Nobody reads the wrist's force and torque; computing them takes 3 % of a step, and changes no motion.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
    # robosuite hides its coloured sites and markers after it has compiled the model.
    model.site_rgba[:] = environment.sim.model._model.site_rgba
    objects = {
        thing.name: free_object(model, thing.name, thing.joints[0]) for thing in environment.model.mujoco_objects
    }
    return Scene(
        name=name,
        model=model,
        physics=physics_of(xml, model),
        arm=arm_of(environment),
        home_qpos=np.array(environment.sim.data.qpos),
        objects=objects,
        table=(environment.sim.model.geom_name2id("table_collision"),),
        mjcf=xml,
    )


def arm_of(environment: Any) -> ArmModel:
    """The one robot of a robosuite environment."""
    robot, sim = environment.robots[0], environment.sim
    controller = robot.composite_controller.part_controllers["right"]
    centre = sim.model.site_name2id(f"{controller.naming_prefix}{controller.part_name}_center")
    body = sim.model.site_bodyid[centre]
    if sim.model.body_weldid[body] != 0:
        raise SettingError("the robot's base can move", found=robot.name, expected="an arm on a fixed base")
    base = np.eye(4)
    base[:3, :3], base[:3, 3] = sim.data.site_xmat[centre].reshape(3, 3), sim.data.site_xpos[centre]
    low, high = controller.actuator_limits
    return ArmModel(
        grip_site=sim.model.site_name2id(controller.ref_name),
        world_from_base=Transform("world", "base", Pose.from_matrix(base)),
        joint_qpos=np.array(controller.qpos_index),
        joint_dofs=np.array(controller.qvel_index),
        actuators=np.array(robot._ref_arm_joint_actuator_indexes),
        torque_limits_nm=np.stack([low, high], axis=1).astype(np.float64),
        gripper=_gripper_of(robot, sim),
    )


def osc_of(environment: Any) -> OscSettings:
    """How a robosuite environment controls its arm.

    Raises:
        SettingError: in a way that sido does not reproduce.
    """
    controller = environment.robots[0].composite_controller.part_controllers["right"]
    scale, stiffness = controller.output_max, controller.kp
    damping_ratio = controller.kd / (2 * np.sqrt(stiffness))
    demands = {
        "type OSC_POSE": controller.name == "OSC_POSE",
        "impedance_mode 'fixed'": controller.impedance_mode == "fixed",
        "no interpolation": controller.interpolator_pos is None and controller.interpolator_ori is None,
        "no position_limits or orientation_limits": controller.position_limits is None
        and controller.orientation_limits is None,
        "uncouple_pos_ori": controller.uncoupling,
        "inputs from -1 to 1": (controller.input_max == 1).all() and (controller.input_min == -1).all(),
        "outputs as far in every direction": (controller.output_min == -scale).all()
        and np.ptp(scale[:3]) == np.ptp(scale[3:]) == 0,
        "one kp for positions and one for rotations": np.ptp(stiffness[:3]) == np.ptp(stiffness[3:]) == 0,
        "one damping_ratio": np.ptp(damping_ratio) < 1e-12,
    }
    missing = [demand for demand, met in demands.items() if not met]
    if missing:
        raise SettingError("sido has no such controller", field="controller_configs", expected=", ".join(missing))
    relative = controller.input_type == "delta"
    return OscSettings(
        action_spec=ActionSpec(
            "relative" if relative else "absolute",
            frame=controller.input_ref_frame,
            position_scale_m=float(scale[0]) if relative else 1.0,
            rotation_scale_rad=float(scale[3]) if relative else 1.0,
            rate_hz=float(environment.control_freq),
        ),
        position_stiffness=float(stiffness[0]),
        rotation_stiffness=float(stiffness[3]),
        damping_ratio=float(damping_ratio[0]),
    )


def _controller_config(osc: OscSettings) -> dict[str, Any]:
    spec = osc.action_spec
    reach = [spec.position_scale_m] * 3 + [spec.rotation_scale_rad] * 3
    return {
        "input_type": "delta" if spec.kind == "relative" else "absolute",
        "input_ref_frame": spec.frame,
        "output_max": reach,
        "output_min": [-scale for scale in reach],
        "kp": [osc.position_stiffness] * 3 + [osc.rotation_stiffness] * 3,
        "damping_ratio": osc.damping_ratio,
    }


def _gripper_of(robot: Any, sim: Any) -> GripperModel:
    gripper, actuators = robot.gripper["right"], np.array(robot._ref_joint_gripper_actuator_indexes["right"])
    closing = _closing_step(gripper)
    speed = float(gripper.speed)
    geoms = {part: _geoms(sim, gripper, names) for part, names in gripper.important_geoms.items()}
    return GripperModel(
        joint_qpos=np.array(robot._ref_gripper_joint_pos_indexes["right"]),
        actuators=actuators,
        control_range=np.array(sim.model.actuator_ctrlrange[actuators], dtype=np.float64),
        directions=np.sign(closing),
        speed=speed,
        left_pad=geoms["left_fingerpad"],
        right_pad=geoms["right_fingerpad"],
        left_finger=geoms["left_finger"],
        right_finger=geoms["right_finger"],
    )


def _geoms(sim: Any, gripper: Any, names: list[str]) -> tuple[int, ...]:
    try:
        return tuple(int(sim.model.geom_name2id(name)) for name in names)
    except ValueError as error:  # some of robosuite's grippers name geoms that they have not
        raise _no_such_model(gripper) from error


def _no_such_model(gripper: Any) -> SettingError:
    return SettingError(
        "sido has no model of this gripper", found=type(gripper).__name__, expected="PandaGripper, Robotiq85Gripper"
    )


def _closing_step(gripper: Any) -> Float[Array, "F"]:
    """How one closing command moves each actuator's state, asked of robosuite's gripper itself.

    Raises:
        SettingError: the gripper does not move at a limited rate that commands of either sign share.
    """
    before = gripper.current_action
    answers: list[Float[Array, "F"]] = []
    for command in (1.0, 0.1, -1.0):
        gripper.current_action = np.zeros(gripper.dof)
        answers.append(np.array(gripper.format_action(np.full(gripper.dof, command)), dtype=np.float64))
    gripper.current_action = before
    closing, gentle, opening = answers
    same = np.array_equal(closing, gentle) and np.array_equal(closing, -opening)
    if gripper.dof != 1 or not same or not np.array_equal(np.abs(closing), np.full_like(closing, gripper.speed)):
        raise _no_such_model(gripper)
    return closing


def _take_little_memory(root: ElementTree.Element) -> None:
    for size in root.findall("size"):
        for name in ("nconmax", "njmax"):
            size.attrib.pop(name, None)
        size.set("memory", f"{DATA_MIB}M")


def _leave_out(root: ElementTree.Element, pairs: tuple[tuple[str, str], ...]) -> None:
    contact = root.find("contact")
    if contact is None:
        contact = ElementTree.SubElement(root, "contact")
    for one, other in pairs:
        ElementTree.SubElement(contact, "exclude", {"body1": one, "body2": other})
