// Options of the process: configuration directory, listen addresses and log level.
import { logLevels } from '../../observability/logger.ts';
import { pausable } from '../../providers/gate/mutation-permission.ts';
import type { OptionRow } from '../option-row.ts';
import { boolean, integer, listenAddress, oneOf, severalOf, text } from '../value-kinds.ts';

export const processOptions = {
  'config-dir': {
    kind: text('path', /./, 'the path of a directory that holds one file per option'),
    origin: 'headwater',
    group: 'process',
    help: 'A directory with one file per option, such as a mounted ConfigMap cilium-config. Headwater ignores files that are not its options, and options that belong to a single process. Flags and environment variables take precedence.',
    fromConfigDir: false,
  },
  'dry-run': {
    kind: boolean,
    origin: 'headwater',
    group: 'process',
    help: 'Decides, logs what it would do, and changes nothing: no call that changes the cloud, no write to Kubernetes except the Lease. To run it next to a live instance, give it its own Lease (leader-election-lease-name) and add that name to its Role. A change of its file in config-dir takes effect within 10 s, without a restart.',
    default: 'false',
    fromConfigDir: true,
    live: true,
  },
  pause: {
    kind: severalOf(pausable),
    origin: 'headwater',
    group: 'process',
    help: 'Changes not to start for now: releases (no unassign, detach or delete), or mutations (no change in the cloud at all). Calls in flight finish, and CiliumNodes still show what exists. A change of its file in config-dir takes effect within 10 s, without a restart.',
    default: '',
    fromConfigDir: true,
    live: true,
  },
  'extra-ca-file': {
    kind: text('path', /./, 'the path of a PEM file'),
    origin: 'headwater',
    group: 'process',
    help: 'Certificate authorities to trust in addition to those of Node.js, one or more in a PEM file, for every client: a VPC endpoint or an emulator with your own certificate, a proxy that intercepts TLS, an https proxy. If the kubeconfig or the pod names an authority for the API server, only that one counts there. Read at startup.',
    fromConfigDir: true,
  },
  'serve-addr': {
    kind: listenAddress,
    origin: 'headwater',
    group: 'process',
    help: 'Where health (/healthz, /readyz), metrics (/metrics) and status (/status) are served.',
    default: ':9966',
    fromConfigDir: false,
  },
  'node-metrics-limit': {
    kind: integer({ min: 0, max: 100_000 }),
    origin: 'headwater',
    group: 'process',
    help: 'The largest fleet for which /metrics has series of each node (cilium_operator_ipam_available_ips, _used_ips and _needed_ips). A larger fleet has none, which bounds the cost of a scrape; headwater_node_needed_addresses always has the 20 nodes that need the most addresses. 0 for never.',
    default: '2000',
    fromConfigDir: true,
  },
  'log-level': {
    kind: oneOf(logLevels),
    origin: 'headwater',
    group: 'process',
    help: 'Logs messages of this level and of those after it.',
    default: 'info',
    fromConfigDir: true,
  },
  debug: {
    kind: boolean,
    origin: 'operator',
    group: 'process',
    help: 'Logs at level debug, unless log-level is set, too.',
    default: 'false',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
