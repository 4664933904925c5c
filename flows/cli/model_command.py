"""The command `model serve`: a chat model on this machine, for every question of this home, until Ctrl-C."""

import argparse

from flows.display.output import Output
from tasks.models.local import keep_model, weights


def serve(arguments: argparse.Namespace, output: Output) -> int:
    path = weights(arguments.gguf)
    output.side.print(f"loading {path} ...", markup=False, soft_wrap=True)
    with keep_model(path, arguments.port) as model:
        address, name, key = model.endpoint.base_url, model.endpoint.model, model.endpoint.api_key
        if output.as_json:
            output.data({"address": address, "model": name, "api_key": key})
        else:
            output.line(f"ready: {address}, model {name}; Ctrl-C ends it")
            output.line(f"for others: export FLOWREADER_CHAT_BASE_URL={address} FLOWREADER_CHAT_API_KEY={key}")
        output.console.file.flush()
        try:
            model.wait()
        except KeyboardInterrupt:
            output.side.print("ended", markup=False)
    return 0
