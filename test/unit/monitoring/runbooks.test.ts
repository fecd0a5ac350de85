import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chosen } from '../../../monitoring/alerts/nodes.ts';
import { dashboards } from '../../../monitoring/generate.ts';
import { optionNames } from '../../../src/config/option-table.ts';
import type { BlockStatusReport } from '../../../src/blocks/modes/block-status-report.ts';
import type { StatusReport } from '../../../src/controller/reporting/status-report.ts';
import type { ConditionReason } from '../../../src/node/conditions/node-condition.ts';

const root = join(import.meta.dirname, '../../..');
const directory = join(root, 'docs/runbooks');

/** The text with each gap in a paragraph reduced to one space. */
function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8').replaceAll(/(?<!\n)\n(?!\n|- |#)\s*/g, ' ');
}

const runbooks = readdirSync(directory).map((file) => [file, textOf(`docs/runbooks/${file}`)] as const);
const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })].map(
  (path) => [path, textOf(path)] as const,
);
const source = globSync('src/**/*.ts', { cwd: root, exclude: ['src/simulator/**'] })
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n');

/** The texts between backticks. */
function quotedIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => quoted);
}

const statusKeys = {
  version: true,
  state: true,
  identity: true,
  leader: true,
  paused: true,
  withdrawalsHeld: true,
  unverified: true,
  denied: true,
  buckets: true,
  nodes: true,
  addresses: true,
  pendingPods: true,
  ready: true,
  readyForSeconds: true,
  notReadyForSeconds: true,
  notReadyBecause: true,
  cloudRead: true,
  omitted: true,
  nodeNames: true,
  cluster: true,
  dryRun: true,
  reasons: true,
  subnets: true,
  planning: true,
  inDeficit: true,
  warnings: true,
  excluded: true,
  pools: true,
  waiting: true,
  nodeSelector: true,
  leftToOthers: true,
  leaderAddress: true,
  overlaps: true,
  restartNeeded: true,
} satisfies Record<keyof BlockStatusReport | keyof StatusReport, true>;

const commands = /^(kubectl|curl|aws|az|aliyun) /;
/** Flags of other programs. */
const otherFlags = ['--max-old-space-size'];

/** By reason: a node gets nothing until a person acts, or is still served, or a person chose so. */
const reasons = {
  NodeUnreadable: 'blocked',
  DuplicateInstance: 'blocked',
  InstanceMismatch: 'blocked',
  InstanceOfAnother: 'blocked',
  NodeMissing: 'blocked',
  OutsideNetwork: 'chosen',
  NetworkMismatch: 'blocked',
  InstanceNotManaged: 'chosen',
  InstanceNotFound: 'blocked',
  InstanceTerminated: 'blocked',
  InstanceTypeUnknown: 'blocked',
  InstanceTypeUnreadable: 'blocked',
  NoInterfaceSlots: 'blocked',
  InstanceFull: 'blocked',
  MaxAllocateReached: 'blocked',
  SubnetsExhausted: 'blocked',
  SubnetsRefused: 'blocked',
  NoSubnetMatches: 'blocked',
  NoSecurityGroupMatches: 'blocked',
  SecurityGroupsUnknown: 'blocked',
  NetworkUnreadable: 'blocked',
  InterfaceUnreadable: 'blocked',
  InterfaceNameUnknown: 'blocked',
  InterfaceFailed: 'blocked',
  InterfaceNotShown: 'blocked',
  InterfaceChanging: 'blocked',
  AgentCannotStart: 'served',
  AgentProtocolUnsupported: 'served',
  MaxPodsTooHigh: 'served',
  SecurityGroupsDiffer: 'served',
  ExcludedAddressesInUse: 'served',
  ReleasedAddressesInUse: 'served',
  PodsUnreadable: 'served',
  FreeAddressesNotTaken: 'served',
  AccessDenied: 'blocked',
  CredentialsExpired: 'blocked',
  CredentialsInvalid: 'blocked',
  ClockWrong: 'blocked',
  Throttled: 'blocked',
  Unreachable: 'blocked',
  InstanceNotRunning: 'blocked',
  CallFailed: 'blocked',
  WriteRefused: 'blocked',
  NoStaticIpMatches: 'served',
  StaticIpsTaken: 'served',
  StaticIpNotAssociated: 'served',
  StaticIpNotSupported: 'blocked',
  NoIpv6Subnet: 'blocked',
  Ipv6PrefixesExhausted: 'blocked',
  Ipv6NotSupported: 'blocked',
  MutationsPaused: 'chosen',
  ConflictingWriter: 'served',
  AddressesContested: 'blocked',
} as const satisfies Record<ConditionReason, 'blocked' | 'served' | 'chosen'>;

function reasonsThatAre(kind: 'blocked' | 'chosen'): readonly string[] {
  return Object.entries(reasons).flatMap(([reason, each]) => (each === kind ? [reason] : []));
}

describe('a runbook', () => {
  test.each([...runbooks, ...pages])('names only keys of /status that exist: %s', (_, text) => {
    const asked = [...text.matchAll(/\/status[^`]*\| jq \.(\w+)/g)];
    const reported = [...text.matchAll(/`(\w+)` in `\/status`/g)];
    const keys = [...asked, ...reported].map(([, key = '']) => key);

    expect(keys.filter((key) => !(key in statusKeys))).toEqual([]);
  });

  test.each(runbooks)('names only messages of the log that exist: %s', (_, text) => {
    const messages = quotedIn(text).filter(
      (quoted) => /^[a-z]\w* [\w ,:-]+$/.test(quoted) && !commands.test(quoted),
    );

    const isLogged = (message: string): boolean =>
      ["'", '`'].some((quote) => source.includes(quote + message));

    expect(messages.filter((message) => !isLogged(message))).toEqual([]);
  });

  test.each(runbooks)('names only Events and reasons of conditions that exist: %s', (_, text) => {
    const named = [...text.matchAll(/(?:Events?|[Rr]easons?) `(\w+)`/g)].map(([, reason = '']) => reason);

    expect(named.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
  });

  test.each(runbooks)('names only options that exist: %s', (_, text) => {
    const flags = quotedIn(text).flatMap((quoted) => /^--[a-z0-9-]+/.exec(quoted) ?? []);
    const known = [...optionNames.map((name) => `--${name}`), ...otherFlags];

    expect(flags.filter((flag) => !known.includes(flag))).toEqual([]);
  });

  test.each(runbooks)('names only panels that its dashboard has: %s', (_, text) => {
    const points = text.split(/\n(?=- )/);
    const missing = points.flatMap((point) => {
      const bold = new Set([...point.matchAll(/\*\*(.+?)\*\*/g)].map(([, title]) => title));
      const plans = dashboards.filter(
        ({ title }) => bold.size === 0 || bold.has(title.replace('Headwater / ', '')),
      );
      const titles = plans.flatMap(({ rows }) =>
        rows.flatMap(({ panels }) => panels.map(({ title }) => title)),
      );
      const italic = [...point.matchAll(/(?<!\*)\*([^*]+)\*(?!\*)/g)].map(([, title = '']) => title);
      return [...(plans.length === 0 ? bold : []), ...italic.filter((title) => !titles.includes(title))];
    });

    expect(missing).toEqual([]);
  });

  test.each(runbooks)('links only files that exist: %s', (_, text) => {
    const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, path = '']) => path);

    expect(links.filter((path) => !existsSync(join(directory, path)))).toEqual([]);
  });
});

describe('the runbook of blocked nodes', () => {
  const [, text = ''] = runbooks.find(([file]) => file === 'HeadwaterNodesBlocked.md') ?? [];

  test.each(reasonsThatAre('blocked'))('says what to do about %s', (reason) => {
    expect(quotedIn(text)).toContain(reason);
  });

  test('belongs to an alert that leaves out only what a person chose', () => {
    expect(chosen.split('|').toSorted()).toEqual(reasonsThatAre('chosen').toSorted());
  });
});
