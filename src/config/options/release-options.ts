// Options that decide what is released from nodes, and when.
import { optionRows } from '../option-row.ts';
import { boolean, duration, text } from '../value-kinds.ts';

const hour = 3_600_000;

export const releaseOptions = optionRows(
  { origin: 'headwater', group: 'release' },
  {
    'aws-release-excess-ips': {
      kind: boolean,
      origin: 'operator',
      cloud: 'eni',
      help: 'Releases addresses beyond the watermarks to their subnets. Headwater asks an agent up to 1.19 first, for each address; from a later agent it takes only what the agent dropped.',
      default: 'false',
    },
    'excess-ip-release-delay': {
      kind: duration({ min: 0, max: 24 * hour, plainSeconds: true }),
      origin: 'operator',
      help: 'How long an address must be in excess before it is released. Longer costs addresses, shorter costs calls if pods come and go.',
      default: '180',
    },
    'release-quarantine': {
      kind: duration({ min: 1000, max: hour }),
      help: 'How long an address stays hidden from an agent of 1.20 or later before it is released, counted from the last write of Headwater to its CiliumNode. Such an agent is not asked: it may reuse a dropped address in memory and report that later, after up to 60 s between refreshes and 15 s of debounce, and once more after a conflicting write. Raise it with those.',
      default: '75s',
    },
    'release-pod-check': {
      kind: boolean,
      help: 'Reads the pods of a node right before addresses or blocks of it are released, and keeps what a running pod shows, although the agent gave it up or, with blocks, the CiliumNode was deleted. It needs the verb list on pods: while pods cannot be read, nothing is released. Without it, the word of the agent is enough.',
      default: 'true',
    },
    'idle-interface-delay': {
      kind: duration({ min: 0, max: 7 * 24 * hour }),
      cloud: 'eni',
      help: 'How long a network interface without pod addresses stays before it is detached and deleted, if aws-release-excess-ips is on. This frees the slot and the primary address. 0 keeps such interfaces for good. An interface at an index up to first-interface-index always stays.',
      default: '1h',
    },
    'allow-withdrawals': {
      kind: text(
        'token',
        /^[\da-f]{10}$/,
        'the 10 hexadecimal digits at the end of a message WithdrawalsHeld',
      ),
      help: 'Approves one set of withdrawals that Headwater holds because implausibly much of the network is missing at once. The message WithdrawalsHeld in the log, an Event, /status and /readyz ends with the token of that set; another or a used token has no effect. Make sure first that the interfaces and addresses are gone for good: a wrong region or role looks the same. A change of its file in config-dir takes effect within 15 s, without a restart.',
      live: true,
    },
  },
);
