#!/bin/sh
# Starts LocalStack's EC2 as a process of this machine and stays in the foreground:  start-localstack.sh [PORT [HOST]]
# Exits with 3 when LocalStack is not available.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("$here/python-environment.sh" localstack)
port=${1:-4566}
state=${XDG_CACHE_HOME:-$HOME/.cache}/headwater/localstack-state/$port
mkdir -p "$state"

# Only the needed services, loaded before LocalStack reports ready, and nothing that connects to the internet.
export SERVICES=ec2,sts,iam STRICT_SERVICE_LOADING=1 EAGER_SERVICE_LOADING=1 EC2_VM_MANAGER=mock
export DISABLE_EVENTS=1 SKIP_SSL_CERT_DOWNLOAD=1 DNS_ADDRESS=0
export GATEWAY_LISTEN="${2:-127.0.0.1}:$port" FILESYSTEM_ROOT="$state" HOME="$state"
# LocalStack gives interfaces invalid MAC addresses such as 02:00:00:10402x:6902x:15202x. EC2 never does, so Headwater
# refuses them.
exec "$python" -c '
import random, runpy, sys
import moto.ec2.models
for name, module in list(sys.modules.items()):
    if name.startswith("moto.ec2") and hasattr(module, "random_mac_address"):
        module.random_mac_address = lambda: "02:00:00:%02x:%02x:%02x" % tuple(random.randbytes(3))
runpy.run_module("localstack.runtime.main", run_name="__main__")'
