#!/bin/sh
# Runs a command in a root file system as its container would: image/enter.sh DIRECTORY COMMAND ARGUMENT...
# Nobody's user, no capabilities, nothing can be written. MOUNTED is a directory that is at /etc/headwater inside.
set -eu

if [ "${ENTERED-}" != yes ]; then
  ENTERED=yes exec unshare --mount -- "$0" "$@"
fi

root=$1
shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
if [ -n "${MOUNTED-}" ]; then mount --bind "$MOUNTED" "$root/etc/headwater"; fi
mount -o remount,bind,ro "$root"
unset ENTERED MOUNTED
cd "$root"
PATH=$PATH:/usr/sbin:/sbin
export PATH
# Entering needs what is given away inside.
exec chroot --userspec=65532:65532 --groups=65532 "$root" "$@"
