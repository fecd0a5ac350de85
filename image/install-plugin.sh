#!/bin/sh
# Puts the CNI plugin onto a node, then the configuration of its network, if one is named:
#   install-plugin PLUGIN-DIRECTORY [CONFLIST TARGET]
# Each takes its name when it is whole, so a container runtime meets the earlier file or this one.
set -eu

put() { # MODE SOURCE TARGET; a runtime reads no file with this ending
  rm -f -- "$3.unfinished"
  cp -- "$2" "$3.unfinished"
  chmod "$1" -- "$3.unfinished"
  mv -f -- "$3.unfinished" "$3"
}

home=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
put 0755 "$home/plugin/headwater-ipam" "$1/headwater-ipam"
if [ $# -eq 3 ]; then put 0644 "$2" "$3"; fi
