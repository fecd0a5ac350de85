// Options that say how the cloud is called: how many calls at once, how fast, and how long they may take.
import type { OptionRow } from '../option-row.ts';
import { boolean, duration, integer, pageSize, positiveNumber, quotas, share } from '../value-kinds.ts';

const second = 1000;

export const callOptions = {
  'parallel-alloc-workers': {
    kind: integer({ least: 1, most: 1000 }),
    origin: 'operator',
    group: 'calls',
    help: 'How many cloud calls may be in flight at once. A call that waits for its turn in the budget is not in flight. Lower it only if the process must hold fewer connections: it does not make the cloud throttle less.',
    default: '50',
    fromConfigDir: true,
  },
  'limit-ipam-api-qps': {
    kind: positiveNumber,
    origin: 'operator',
    group: 'calls',
    help: 'Caps all cloud calls together at this many a second. Unset, each kind of call has a budget of its own, as the cloud counts them. Set it only to leave more of the account to others: large fleets start much slower.',
    fromConfigDir: true,
  },
  'limit-ipam-api-burst': {
    kind: integer({ least: 1, most: 100_000 }),
    origin: 'operator',
    group: 'calls',
    help: "How many calls may be made at once before the cap of limit-ipam-api-qps is felt. Setting one of the two sets the other to the operator's default, 4 calls a second and 20 at once.",
    fromConfigDir: true,
  },
  'cloud-quota-share': {
    kind: share,
    origin: 'headwater',
    group: 'calls',
    help: "Which part of the cloud's own rate limits Headwater may use: they are shared with everything else in the account and region. Raise it to 1 where nothing else calls EC2 there; lower it where much does.",
    default: '0.8',
    fromConfigDir: true,
  },
  'cloud-quota-overrides': {
    kind: quotas,
    origin: 'headwater',
    group: 'calls',
    help: "Rate limits of the account that differ from those that the cloud documents, by call: how many calls at once after a pause, and how many a second. cloud-quota-share applies to them too. Set it after AWS has raised a limit; lower limits are found out from the cloud's own answers.",
    default: '',
    fromConfigDir: true,
  },
  'spread-cloud-calls': {
    kind: boolean,
    origin: 'headwater',
    group: 'calls',
    help: "Whether a node on which pods wait is given a new interface, though an interface that it has could take more addresses, when calls that assign addresses wait much longer for the cloud's rate limits than calls that create interfaces. Serves bursts faster, at the price of interface slots and of one address more for each interface.",
    default: 'false',
    fromConfigDir: true,
  },
  'aws-max-results-per-call': {
    kind: pageSize,
    origin: 'operator',
    group: 'calls',
    help: 'Results a page when listing. Fewer mean more calls; change it only if large pages time out.',
    default: '0',
    fromConfigDir: true,
  },
  'cloud-call-timeout': {
    kind: duration({ least: second, most: 300 * second }),
    origin: 'headwater',
    group: 'calls',
    help: 'How long to wait for the answer to one cloud call. After that the call may still have taken effect, and Headwater looks before it acts again, so that a short time-out costs calls. Calls that take something away are waited for 5 s at most, and sent only if that ends before our own lease does: leader-election-lease-duration must be longer than both that and leader-election-retry-period together.',
    default: '30s',
    fromConfigDir: true,
  },
  'consistency-window': {
    kind: duration({ least: second, most: 600 * second }),
    origin: 'headwater',
    group: 'calls',
    help: "How long the cloud may take to show a change in its listings. Within it a listing that lacks something is not believed. Raise it when EC2's listings are seen to lag behind longer.",
    default: '30s',
    fromConfigDir: true,
  },
} as const satisfies Record<string, OptionRow>;
