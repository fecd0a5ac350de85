#!/bin/sh
# Prints the interpreter of a Python environment with one of the servers in pinned versions:
#   python-environment.sh localstack|moto
# It creates the environment the first time, outside the tree. HEADWATER_PYTHON names an interpreter to try before those on
# PATH. If something is missing, it prints one line on standard error and exits with 3.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
name=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/headwater

# The Python version of the pinned list.
case $name in
  localstack) wanted=3.13 ;;
  moto) wanted=3.11 ;;
  *) echo "there is no list for $name" >&2 && exit 2 ;;
esac
requirements=$here/requirements-$name.txt
environment=$cache/$name-$(cksum <"$requirements" | cut -d ' ' -f 1)

cannot() {
  echo "$name is not available: $1" >&2
  exit 3
}

find_interpreter() {
  for interpreter in "${HEADWATER_PYTHON:-}" "python$wanted" \
    "${PYENV_ROOT:-$HOME/.pyenv}/versions/$wanted".*/bin/python python3; do
    "$interpreter" -c "import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$wanted')" \
      >/dev/null 2>&1 && return 0
  done
  return 1
}

# The environment gets its name once it is complete, so that an interruption or a second run leaves no partial one.
make_environment() {
  find_interpreter || cannot "install Python $wanted with its venv module, or name it in HEADWATER_PYTHON"
  mkdir -p "$cache"
  unfinished=$(mktemp -d "$cache/unfinished.XXXXXX")
  trap 'rm -rf "$unfinished"' EXIT
  trap 'exit 1' HUP INT TERM
  "$interpreter" -m venv "$unfinished/venv" >&2 || cannot "its Python environment cannot be created"
  "$unfinished/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --requirement "$requirements" >&2 || cannot "pip must reach a Python package index"
  [ -d "$environment" ] || mv "$unfinished/venv" "$environment"
}

[ -d "$environment" ] || make_environment
echo "$environment/bin/python"
