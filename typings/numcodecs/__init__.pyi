"""The part of numcodecs that sido uses, typed."""

class Blosc:
    BITSHUFFLE: int
    def __init__(self, *, cname: str, clevel: int, shuffle: int) -> None: ...
