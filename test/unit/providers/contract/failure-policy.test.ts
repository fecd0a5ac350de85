import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import {
  type FailurePolicy,
  failurePolicy,
  isWorthReporting,
  mayConcern,
} from '../../../../src/providers/contract/failure-policy.ts';

const kinds = Object.keys(failurePolicy) as readonly CloudFailureKind[];

type Row = readonly [
  kind: CloudFailureKind,
  blocks: string,
  invalidates: FailurePolicy['invalidates'],
  retry: FailurePolicy['retry'],
  tell: FailurePolicy['tell'],
  isUnclear: boolean,
  refuses: FailurePolicy['refuses'],
  mayConcern: string,
];

/** `blocks` by create, attach, allocate and allocateIpv6. */
const rows: readonly Row[] = [
  [
    'throttled',
    'nothing nothing nothing nothing',
    'nothing',
    'byRateLimit',
    'ifRepeated',
    false,
    'nothing',
    '',
  ],
  [
    'fenced',
    'nothing nothing nothing nothing',
    'nothing',
    'oncePermitted',
    'ifRepeated',
    false,
    'nothing',
    '',
  ],
  [
    'stopped',
    'nothing nothing nothing nothing',
    'nothing',
    'oncePermitted',
    'ifRepeated',
    false,
    'nothing',
    '',
  ],
  [
    'subnetExhausted',
    'subnetSpace subnetSpace subnetSpace ipv6In',
    'nothing',
    'later',
    'ifRepeated',
    false,
    'request',
    'ipv6',
  ],
  [
    'prefixSpaceFragmented',
    'subnetBlocks subnetBlocks subnetBlocks ipv6In',
    'nothing',
    'later',
    'ifRepeated',
    false,
    'request',
    'ipv6',
  ],
  [
    'subnetGone',
    'subnetItself subnetItself subnetItself ipv6In',
    'nothing',
    'later',
    'ifRepeated',
    false,
    'request',
    '',
  ],
  [
    'limitReached',
    'node newInterfaces interface ipv6On',
    'state',
    'later',
    'atOnce',
    false,
    'request',
    'size ipv6',
  ],
  [
    'deviceIndexTaken',
    'node newInterfaces interface ipv6On',
    'state',
    'later',
    'ifRepeated',
    true,
    'request',
    '',
  ],
  ['instanceNotRunning', 'node node node node', 'state', 'later', 'ifRepeated', false, 'request', ''],
  ['instanceGone', 'node node node node', 'existence', 'never', 'ifRepeated', false, 'request', ''],
  [
    'interfaceGone',
    'node newInterfaces interface ipv6On',
    'existence',
    'needless',
    'ifRepeated',
    false,
    'request',
    '',
  ],
  [
    'notAssigned',
    'node newInterfaces interface ipv6On',
    'nothing',
    'needless',
    'ifRepeated',
    false,
    'request',
    '',
  ],
  [
    'notYetVisible',
    'node newInterfaces interface ipv6On',
    'nothing',
    'soon',
    'ifRepeated',
    false,
    'request',
    '',
  ],
  [
    'conflict',
    'node newInterfaces interface ipv6On',
    'state',
    'soon',
    'ifRepeated',
    true,
    'request',
    'thing',
  ],
  [
    'notAuthorized',
    'subnet attachment interface ipv6In',
    'nothing',
    'later',
    'atOnce',
    false,
    'caller',
    'action ipv6',
  ],
  [
    'invalid',
    'subnet attachment interface ipv6In',
    'nothing',
    'never',
    'atOnce',
    false,
    'caller',
    'action thing size ipv6',
  ],
  [
    'unknown',
    'subnet attachment interface ipv6In',
    'nothing',
    'later',
    'ifRepeated',
    false,
    'request',
    'action thing part size ipv6',
  ],
  ['unreachable', 'node node node ipv6On', 'nothing', 'soon', 'ifRepeated', false, 'nothing', 'part'],
  ['unreadable', 'node node node ipv6On', 'nothing', 'later', 'ifRepeated', false, 'nothing', 'part'],
];

/** The kinds for which a part of the controller acts. */
const questions: readonly (readonly [string, (kind: CloudFailureKind) => boolean, string])[] = [
  [
    'an allocation refreshes its instance',
    (kind) => failurePolicy[kind].invalidates !== 'nothing',
    'limitReached deviceIndexTaken instanceNotRunning instanceGone interfaceGone conflict',
  ],
  [
    // Also the association of a static address, which refreshes its instance then: how the instance is does not matter to it.
    'a read finds that the thing is missing',
    (kind) => failurePolicy[kind].invalidates === 'existence',
    'instanceGone interfaceGone',
  ],
  [
    'a failure is reported the first time',
    (kind) => isWorthReporting({ kind }, 1),
    'limitReached notAuthorized invalid',
  ],
  ['a failure is reported if it is repeated', (kind) => isWorthReporting({ kind }, 2), kinds.join(' ')],
  [
    'a creation with a lost answer is repeated at once, as is an early attachment',
    (kind) => failurePolicy[kind].retry === 'soon',
    'notYetVisible conflict unreachable',
  ],
  [
    // What is gone, or needless, leaves nothing to offer again.
    'a release keeps its addresses hidden for the next attempt',
    (kind) => {
      const { retry, invalidates } = failurePolicy[kind];
      return invalidates === 'existence' || !['later', 'never'].includes(retry);
    },
    'throttled fenced stopped instanceGone interfaceGone notAssigned notYetVisible conflict unreachable',
  ],
  [
    'the collection of orphans and the setting of delete-on-termination wait for our own gate',
    (kind) => failurePolicy[kind].retry === 'oncePermitted',
    'fenced stopped',
  ],
  [
    'delete-on-termination is given up',
    (kind) => failurePolicy[kind].retry === 'never',
    'instanceGone invalid',
  ],
  [
    'an attachment with a lost answer may have succeeded',
    (kind) => failurePolicy[kind].isUnclear,
    'deviceIndexTaken conflict',
  ],
  [
    'another address, orphaned interface or value of a filter may do',
    (kind) => mayConcern({ kind }, 'thing'),
    'conflict invalid unknown',
  ],
  [
    'a second refusal blocks the whole action',
    (kind) => mayConcern({ kind }, 'action'),
    'notAuthorized invalid unknown',
  ],
  [
    'an interface may be created without its IPv6 prefix',
    (kind) => mayConcern({ kind }, 'ipv6'),
    'subnetExhausted prefixSpaceFragmented limitReached notAuthorized invalid unknown',
  ],
  ['less may do than was asked for', (kind) => mayConcern({ kind }, 'size'), 'limitReached invalid unknown'],
  [
    'an answer about the action in general has one text for every call',
    (kind) => failurePolicy[kind].refuses === 'caller',
    'notAuthorized invalid',
  ],
  [
    'a failed read says nothing of its instance',
    (kind) => failurePolicy[kind].refuses === 'nothing',
    'throttled fenced stopped unreachable unreadable',
  ],
  ['a list is read zone by zone', (kind) => mayConcern({ kind }, 'part'), 'unknown unreachable unreadable'],
];

describe('what follows from a failure', () => {
  test('is decided for every kind', () => {
    expect(rows.map(([kind]) => kind)).toEqual(kinds);
  });

  test.each(rows)(
    'is for %s: blocks %s, invalidates %s, retry %s, tell %s, unclear %s, refuses %s, %s',
    (kind, ...expected) => {
      const {
        blocks,
        invalidates,
        retry,
        tell,
        isUnclear,
        refuses,
        mayConcern: suspects,
      } = failurePolicy[kind];
      const { create, attach, allocate, allocateIpv6 } = blocks;

      const row = [
        [create, attach, allocate, allocateIpv6].join(' '),
        invalidates,
        retry,
        tell,
        isUnclear,
        refuses,
        suspects.join(' '),
      ];

      expect(row).toEqual(expected);
    },
  );

  test.each(questions)('is that %s', (_, isSo, expected) => {
    expect(kinds.filter(isSo).join(' ')).toBe(expected);
  });
});

const root = new URL('../../../../', import.meta.url);

/** Only these name many kinds: the kinds themselves, and the codes of each cloud. */
const classifying = /^src\/providers\/(contract\/(cloud-failure|failure-policy)|[a-z]+\/errors)\.ts$/;

/** Several kinds of failures in one list, or compared in one expression. Texts by kind are none. */
function setsIn(text: string): readonly string[] {
  const kind = String.raw`'(?:${kinds.join('|')})'`;
  const lists = new RegExp(String.raw`\[\s*${kind}(?:,\s*${kind})+,?\s*\]`, 'g');
  const compared = String.raw`[Kk]ind\s*[!=]==\s*${kind}`;
  const comparisons = new RegExp(String.raw`${compared}[^;{}]*?(?:\|\||&&)[^;{}]*?${compared}`, 'g');
  const types =
    /Set<\s*(?:CloudFailureKind|CloudFailure\['kind'\])|readonly (?:CloudFailureKind|CloudFailure\['kind'\])\[\]/g;
  const cases = new RegExp(String.raw`case ${kind}:\s*case ${kind}:`, 'g');
  return [lists, comparisons, cases, types].flatMap((pattern) => text.match(pattern) ?? []);
}

describe('a set of failure kinds', () => {
  test('is in no source beside the policy and the codes of each cloud', () => {
    const files = globSync('src/{controller,manager,node,observability,providers}/**/*.ts', { cwd: root });
    const others = files.filter((file) => !classifying.test(file)).toSorted();

    const found = others.flatMap((file) =>
      setsIn(readFileSync(new URL(file, root), 'utf8')).map((text) => `${file}: ${text}`),
    );

    expect(found).toEqual([]);
    expect(others.length).toBeGreaterThan(150);
  });

  test.each([
    `new Set(['fenced', 'stopped'])`,
    `[\n  'notYetVisible',\n  'conflict',\n].includes(kind)`,
    `failure.kind === 'instanceGone' || failure.kind === 'interfaceGone'`,
    `outcome.kind === 'ambiguous' || kind === 'conflict' || kind === 'deviceIndexTaken'`,
    `case 'fenced':\n    case 'stopped':\n      return true;`,
    `ReadonlySet<CloudFailure['kind']>`,
  ])('is found in %j', (text) => {
    expect(setsIn(text)).toHaveLength(1);
  });
});
