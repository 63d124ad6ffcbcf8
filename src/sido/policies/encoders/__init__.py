"""Images to features.

| file | what it holds |
|---|---|
| `encoder.py` | the contract: `Encoder` |
| `crop.py` | squares cut out of images |
| `per_camera.py` | `PerCamera`: one network for each camera, on crops |
| `small_cnn.py` | strided convolutions: for laptops |
| `resnet18.py`, `spatial_softmax.py` | Diffusion Policy's: ResNet18 with GroupNorm, and keypoints |
| `dinov3.py` | `DinoV3`: a pretrained backbone for all cameras; needs the extra `vision` |
| `build.py` | `build_encoder`: from configs |
"""

from sido.policies.encoders.build import build_encoder
from sido.policies.encoders.crop import crop_squares
from sido.policies.encoders.encoder import Encoder, Images

__all__ = ["Encoder", "Images", "build_encoder", "crop_squares"]
