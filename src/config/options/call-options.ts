// Options for cloud calls: concurrency, rate limits and time-outs.
import { optionRows } from '../option-row.ts';
import { boolean, duration, integer, pageSize, positiveNumber, quotas, share, text } from '../value-kinds.ts';

const second = 1000;

export const callOptions = optionRows(
  { origin: 'headwater', group: 'calls' },
  {
    'parallel-alloc-workers': {
      kind: integer({ min: 1, max: 1000 }),
      origin: 'operator',
      help: 'How many cloud calls may be in flight at once. A call that waits for the rate limit is not in flight. Lower it only to hold fewer connections: it does not reduce throttling.',
      default: '50',
    },
    'limit-ipam-api-qps': {
      kind: positiveNumber,
      origin: 'operator',
      help: 'Caps all cloud calls together at this many a second. If unset, each action has its own rate limit, as in the cloud. Set it only to leave more of the account to others: large fleets start much slower.',
    },
    'limit-ipam-api-burst': {
      kind: integer({ min: 1, max: 100_000 }),
      origin: 'operator',
      help: "How many calls may be made at once before limit-ipam-api-qps slows them down. If only one of the two is set, the other takes the operator's default: 4 calls a second, 20 at once.",
    },
    'cloud-quota-share': {
      kind: share,
      help: "Which part of the cloud's rate limits Headwater may use. They are shared with everything else in the account and region. Raise it to 1 if nothing else calls the cloud there; lower it if much does.",
      default: '0.8',
    },
    'cloud-quota-overrides': {
      kind: quotas,
      help: "Rate limits of the account that differ from the documented ones, by action: calls at once after a pause, and calls a second. On Alibaba Cloud, the first number is the limit per minute, and the second has no effect. cloud-quota-share applies to them, too. Set it after the cloud raises a limit; Headwater learns lower limits from the cloud's answers.",
      default: '',
    },
    'spread-cloud-calls': {
      kind: boolean,
      help: 'Attaches a new interface to a node with pending pods, even if one of its interfaces has room, when calls that assign addresses wait much longer for the rate limit than calls that create interfaces. Serves bursts faster, and costs interface slots and one more address for each interface.',
      default: 'false',
    },
    'aws-max-results-per-call': {
      kind: pageSize,
      origin: 'operator',
      cloud: 'eni',
      help: 'Results per page of a listing. Smaller pages mean more calls; change it only if large pages time out.',
      default: '0',
    },
    'cloud-call-timeout': {
      kind: duration({ min: second, max: 300 * second }),
      help: 'How long to wait for the answer to a cloud call. After a time-out the call may still take effect, so Headwater reads before it acts again: a short time-out costs calls. Calls that take something away wait 5 s at most, and are sent only if that ends before the Lease does: leader-election-lease-duration must be longer than that wait and leader-election-retry-period together.',
      default: '30s',
    },
    audit: {
      kind: text('file', /^(-|\/.*[^/])$/, 'the absolute path of a file, or - for standard output'),
      help: 'Where a line of JSON is appended for each change that Headwater makes in the cloud: who, what, for which node, why, and the result (docs/audit.md). - is standard output. The file is opened anew for each line, so it can be rotated by moving it away. If it cannot be opened at startup, Headwater refuses to start; later, changes go on without their lines. If unset, there is no audit.',
    },
    'consistency-window': {
      kind: duration({ min: second, max: 600 * second }),
      help: "How long the cloud may take to show a change in its listings. Until then, Headwater does not believe a listing that lacks something. Raise it if the cloud's listings lag longer.",
      default: '30s',
    },
  },
);
