#!/bin/sh
# Starts moto's EC2 and stays in the foreground:  start-moto.sh [PORT [HOST]]
# Exits with 3 when moto is not available.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("$here/python-environment.sh" moto)
exec "$python" -m moto.server --host "${2:-127.0.0.1}" --port "${1:-5000}"
