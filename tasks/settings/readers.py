"""The ways of answering, by the names that `--reader` takes: each is the module of its name in `flows/readers`."""

from typing import Literal, get_args

Reader = Literal["flow", "top-k"]
READERS: tuple[Reader, ...] = get_args(Reader)
READERS_HELP = "flow routes evidence through the graph; top-k takes the best passages"
