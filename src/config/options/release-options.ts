// Options that say what is taken back from nodes, and when.
import type { OptionRow } from '../option-row.ts';
import { boolean, duration } from '../value-kinds.ts';

const hour = 3_600_000;

export const releaseOptions = {
  'aws-release-excess-ips': {
    kind: boolean,
    origin: 'operator',
    group: 'release',
    help: 'Whether addresses beyond the watermarks are given back to their subnets. An agent up to 1.19 is asked first, address by address; of a later one only what it dropped by itself is taken.',
    default: 'false',
    fromConfigDir: true,
  },
  'excess-ip-release-delay': {
    kind: duration({ least: 0, most: 24 * hour, plainSeconds: true }),
    origin: 'operator',
    group: 'release',
    help: 'How long an address must be more than a node needs before it is given back. Longer costs addresses, shorter costs calls where pods come and go.',
    default: '180',
    fromConfigDir: true,
  },
  'release-hidden-time': {
    kind: duration({ least: 1000, most: hour }),
    origin: 'headwater',
    group: 'release',
    help: 'How long an address stays hidden from an agent of 1.20 or later before it is given back, counted from the last write of Headwater to its CiliumNode. Such an agent is not asked: it may take an address back in memory and say so later, within the 60 s between its refreshes and the 15 s that it gathers changes, and has to begin anew when somebody else writes at the same time. Raise it with those.',
    default: '75s',
    fromConfigDir: true,
  },
  'idle-interface-delay': {
    kind: duration({ least: 0, most: 7 * 24 * hour }),
    origin: 'headwater',
    group: 'release',
    help: 'How long a network interface without pod addresses stays before it is detached and deleted, where aws-release-excess-ips is on. It frees the slot and the primary address. 0 keeps such interfaces for good. An interface at index 0 or at first-interface-index always stays.',
    default: '1h',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
