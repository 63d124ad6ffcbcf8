from typing import Any, Literal

import numpy as np

class TSNE:
    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = ...,
        init: Literal["pca", "random"] = ...,
        random_state: int | None = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit_transform(self, X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]: ...
