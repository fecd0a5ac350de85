// Options of the process: configuration directory, listen addresses and log level.
import { logLevels } from '../../observability/logger.ts';
import { pausable } from '../../providers/gate/mutation-permission.ts';
import { optionRows } from '../option-row.ts';
import { boolean, integer, listenAddress, oneOf, severalOf, text } from '../value-kinds.ts';

export const processOptions = optionRows(
  { origin: 'headwater', group: 'process' },
  {
    'config-dir': {
      kind: text('path', /./, 'the path of a directory that holds one file per option'),
      help: 'A directory with one file per option, such as a mounted ConfigMap cilium-config. Headwater ignores files that are not its options, and options that belong to a single process. Flags and environment variables take precedence.',
      fromConfigDir: false,
    },
    'dry-run': {
      kind: boolean,
      help: 'Decides, logs what it would do, and changes nothing: no call that changes the cloud, no write to Kubernetes except the Lease. To run it next to a live instance, give it its own Lease (leader-election-lease-name) and add that name to its Role. A change of its file in config-dir takes effect within 10 s, without a restart.',
      default: 'false',
      live: true,
    },
    pause: {
      kind: severalOf(pausable),
      help: 'Changes not to start for now: releases (no unassign, detach or delete), or mutations (no change in the cloud at all). Calls in flight finish, and CiliumNodes still show what exists. A change of its file in config-dir takes effect within 10 s, without a restart.',
      default: '',
      live: true,
    },
    'extra-ca-file': {
      kind: text('path', /./, 'the path of a PEM file'),
      help: 'Certificate authorities to trust in addition to those of Node.js, one or more in a PEM file, for every client: a VPC endpoint or an emulator with your own certificate, a proxy that intercepts TLS, an https proxy. If the kubeconfig or the pod names an authority for the API server, only that one counts there. Read at startup.',
    },
    'serve-addr': {
      kind: listenAddress,
      help: 'Where health (/healthz, /readyz), metrics (/metrics), status (/status) and a page for browsers (/) are served.',
      default: ':9966',
      fromConfigDir: false,
    },
    ui: {
      kind: boolean,
      help: 'Serves a page for browsers at / of serve-addr. It reads /status, and changes nothing.',
      default: 'true',
      fromConfigDir: false,
    },
    'node-metrics-limit': {
      kind: integer({ min: 0, max: 100_000 }),
      help: 'The largest fleet for which /metrics has series of each node (cilium_operator_ipam_available_ips, _used_ips and _needed_ips). A larger fleet has none, which bounds the cost of a scrape; headwater_node_needed_addresses always has the 20 nodes that need the most addresses. 0 for never.',
      default: '2000',
    },
    'log-level': {
      kind: oneOf(logLevels),
      help: 'Logs messages of this level and of those after it.',
      default: 'info',
    },
    debug: {
      kind: boolean,
      origin: 'operator',
      help: 'Logs at level debug, unless log-level is set, too.',
      default: 'false',
    },
  },
);
