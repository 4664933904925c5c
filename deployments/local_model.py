"""The model that FLOWREADER_LOCAL_MODEL names, for questions of this home, until SIGTERM: `python -m deployments.local_model`."""

import sys

from deployments.children import say_ready
from storage.errors import ExpectedError
from tasks.models.local import ANY_PORT, keep_model, weights


def main() -> int:
    """Serve for ever; return 1 where the model cannot be had, or ended."""
    try:
        with keep_model(weights(), ANY_PORT) as model:
            say_ready("the local model", f"{model.endpoint.model} at {model.endpoint.base_url}")
            model.wait()
    except ExpectedError as error:
        sys.stderr.write(f"{error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
