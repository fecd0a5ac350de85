#!/bin/sh
# Lays out what the image adds to its base: image/lay-out.sh DIRECTORY, in a checkout with its bundle built.
set -eu
cd "$(dirname -- "$0")/.."

home=$1/opt/headwater
rm -rf -- "$1"
mkdir -p -- "$home/bin" "$home/dist/chunks"
cp -- bin/headwater "$home/bin/"
cp -- image/install-plugin.sh "$home/bin/install-plugin"
cp -- dist/main.js dist/main.js.map dist/page.html "$home/dist/"
cp -- dist/chunks/*.js dist/chunks/*.js.map "$home/dist/chunks/"
cp -- LICENSE "$home/"
# Says that the bundle is made of modules.
node image/bill-of-materials.ts package > "$home/package.json"
node image/bill-of-materials.ts notices > "$home/THIRD-PARTY-NOTICES"
node image/bill-of-materials.ts sbom > "$home/sbom.cdx.json"
# Everybody reads, nobody writes.
chmod -R a=rX,u=rX -- "$1/opt"
chmod 0555 -- "$home/bin/headwater" "$home/bin/install-plugin"
