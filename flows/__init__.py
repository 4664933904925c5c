"""What runs: one file for each flow, and the command line.

Nothing here calls home: what the libraries would send is off before any of them is imported, unless the user turned it on.
"""

import os
import sys

if sys.platform == "win32":
    sys.exit("FlowReader runs on Linux and macOS; on Windows run it in WSL")

for _name, _off in {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}.items():
    os.environ.setdefault(_name, _off)
