// Options of the process itself: where its configuration is, where it serves, how much it says.
import { logLevels } from '../../observability/logger.ts';
import { pausable } from '../../providers/mutation-permission.ts';
import type { OptionRow } from '../option-row.ts';
import { boolean, listenAddress, oneOf, severalOf, text } from '../value-kinds.ts';

export const processOptions = {
  'config-dir': {
    kind: text('path', /./, 'the path of a directory that holds one file per option'),
    origin: 'headwater',
    group: 'process',
    help: "A directory with one file per option, such as Cilium's ConfigMap cilium-config when it is mounted. Files that are no options of Headwater are ignored, and so are those that belong to one process alone. Flags and environment come before it.",
    fromConfigDir: false,
  },
  'dry-run': {
    kind: boolean,
    origin: 'headwater',
    group: 'process',
    help: 'Decides and logs what it would do, and does none of it: no call that changes the cloud, no write to Kubernetes but the Lease. For a look beforehand; beside another Headwater it needs a Lease of its own (leader-election-lease-name), which its Role must name. Changed in the directory, it takes effect within 10 s, without a restart.',
    default: 'false',
    fromConfigDir: true,
    live: true,
  },
  pause: {
    kind: severalOf(pausable),
    origin: 'headwater',
    group: 'process',
    help: 'What not to begin for now: releases (nothing is taken away: no unassign, detach or delete), or mutations (nothing is changed in the cloud at all). What was begun is seen through, and CiliumNodes go on showing what exists. Changed in the directory, it takes effect within 10 s, without a restart.',
    default: '',
    fromConfigDir: true,
    live: true,
  },
  'extra-ca-file': {
    kind: text('path', /./, 'the path of a PEM file'),
    origin: 'headwater',
    group: 'process',
    help: 'Certificate authorities to trust besides those that Node.js trusts, one or more as PEM in one file, for every client: a VPC endpoint or an emulator with a certificate of your own, a proxy that looks into TLS, an https proxy. Where the kubeconfig or the pod names the authority of the API server, that alone counts for the API server. Read at start.',
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
  'log-level': {
    kind: oneOf(logLevels),
    origin: 'headwater',
    group: 'process',
    help: 'How much is logged: lines of this level and of those after it.',
    default: 'info',
    fromConfigDir: true,
  },
  debug: {
    kind: boolean,
    origin: 'operator',
    group: 'process',
    help: 'Logs at level debug, unless log-level is given as well.',
    default: 'false',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
