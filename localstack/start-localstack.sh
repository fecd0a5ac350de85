#!/bin/sh
# Starts LocalStack's EC2 as a process of this machine and stays in the foreground:  start-localstack.sh [PORT [HOST]]
# Exits with 3 when LocalStack cannot be had.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
python=$("$here/python-environment.sh" localstack)
port=${1:-4566}
state=${XDG_CACHE_HOME:-$HOME/.cache}/headwater/localstack-state/$port
mkdir -p "$state"

# Only what is needed, loaded before it says that it is ready, and nothing that asks the internet.
export SERVICES=ec2,sts,iam STRICT_SERVICE_LOADING=1 EAGER_SERVICE_LOADING=1 EC2_VM_MANAGER=mock
export DISABLE_EVENTS=1 SKIP_SSL_CERT_DOWNLOAD=1 DNS_ADDRESS=0
export GATEWAY_LISTEN="${2:-127.0.0.1}:$port" FILESYSTEM_ROOT="$state" HOME="$state"
exec "$python" -m localstack.runtime.main
