from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int32]

class mjtObj(IntEnum):
    mjOBJ_BODY = ...
    mjOBJ_JOINT = ...
    mjOBJ_GEOM = ...
    mjOBJ_SITE = ...

class mjtJoint(IntEnum):
    mjJNT_FREE = ...
    mjJNT_HINGE = ...

class mjtIntegrator(IntEnum):
    mjINT_RK4 = ...

class mjtWarning(IntEnum):
    mjNWARNING = ...

class mjtState(IntEnum):
    mjSTATE_FULLPHYSICS = ...

class mjtDisableBit:
    mjDSBL_SENSOR: int

class MjOption:
    timestep: float
    integrator: int
    disableflags: int

class _Named:
    id: int
    name: str

class MjModel:
    _address: int
    opt: MjOption
    nq: int
    nv: int
    nu: int
    ngeom: int
    nbody: int
    nsensordata: int
    qpos0: _Floats
    body_pos: _Floats
    body_rootid: _Ints
    body_weldid: _Ints
    geom_bodyid: _Ints
    geom_contype: _Ints
    geom_conaffinity: _Ints
    jnt_type: _Ints
    jnt_bodyid: _Ints
    jnt_qposadr: _Ints
    jnt_dofadr: _Ints
    site_rgba: NDArray[np.float32]
    @classmethod
    def from_xml_string(cls, xml: str) -> MjModel: ...
    def joint(self, id: int | str) -> _Named: ...
    def geom(self, id: int | str) -> _Named: ...
    def __getattr__(self, name: str) -> Any: ...  # the many arrays that sido does not read

class _Warnings:
    number: _Ints

class _Contacts:
    dist: _Floats
    geom: _Ints

class MjData:
    _address: int
    time: float
    ncon: int
    warning: _Warnings
    contact: _Contacts
    qpos: _Floats
    qvel: _Floats
    ctrl: _Floats
    qM: _Floats
    qfrc_bias: _Floats
    site_xpos: _Floats
    site_xmat: _Floats
    def __init__(self, model: MjModel) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

def mj_resetData(model: MjModel, data: MjData) -> None: ...
def mj_forward(model: MjModel, data: MjData) -> None: ...
def mj_name2id(model: MjModel, type: int, name: str) -> int: ...
def __getattr__(name: str) -> Any: ...
