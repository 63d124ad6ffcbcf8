"""Where an object will be, from where it was seen. numpy only.

```python
history = History.of(positions, stamps_s, now_s)  # [B, h, 3], [B, h], s: irregular, with gaps, as they came in
forecast = FiniteDifference(speed_mps=0.02)(history, horizon_s=0.8)
forecast.positions  # [B, 3] at now_s + 0.8
```

| file | what it holds |
|---|---|
| `history.py` | `History`: observations in order, without what cannot be believed |
| `predictor.py` | the contract: a history and a horizon in, a `Forecast` out |
| `forecast.py` | `Forecast`: positions, and where it is known a covariance and the path |
| `hold.py` | stays where it is |
| `finite_difference.py` | the median of the last differences |
| `kalman.py` | the Kalman filter of constant velocity |
| `interacting_models.py` | two of them, one for going straight on, one for turning |
| `last_turn.py` | the turn between the last two legs, wherever it was |
| `legs_and_arcs.py` | that, or round an arc; and turns that come back |
| `mlp.py`, `fernn.py` | the learned ones; `network.py` is what they have in common |
| `deadband.py` | any of them, but what does not show that it moves rests |
| `reflected.py` | any of them, folded at the walls of a known region |
| `named.py` | all of them by name; a learned one by its folder |
| `track.py`, `track_files.py` | where objects were: simulated, or from a log of real poses |
| `watching.py`, `questions.py` | how tracks are seen, and what is asked about them |
| `lessons.py`, `fitting.py`, `saved.py` | what the learned ones are taught on; teaching (torch); keeping them |
| `assessing.py`, `picture.py` | how far off they are |
"""

from sido.predict.deadband import Deadband
from sido.predict.fernn import FERNN
from sido.predict.finite_difference import FiniteDifference
from sido.predict.forecast import PATH_POINTS, Forecast
from sido.predict.history import Belief, History
from sido.predict.hold import Hold
from sido.predict.interacting_models import InteractingModels
from sido.predict.kalman import Kalman
from sido.predict.last_turn import LastTurn
from sido.predict.legs_and_arcs import LegsAndArcs
from sido.predict.mlp import MLP
from sido.predict.named import PREDICTORS, predictor_named
from sido.predict.predictor import Predictor
from sido.predict.reflected import Reflected
from sido.predict.saved import load_learned, save_learned
from sido.predict.track import Track, simulated_tracks
from sido.predict.track_files import read_tracks
from sido.predict.watching import Watching

__all__ = [
    "FERNN",
    "MLP",
    "PATH_POINTS",
    "PREDICTORS",
    "Belief",
    "Deadband",
    "FiniteDifference",
    "Forecast",
    "History",
    "Hold",
    "InteractingModels",
    "Kalman",
    "LastTurn",
    "LegsAndArcs",
    "Predictor",
    "Reflected",
    "Track",
    "Watching",
    "load_learned",
    "predictor_named",
    "read_tracks",
    "save_learned",
    "simulated_tracks",
]
