import { describe, expect, test } from '@jest/globals';
import type { BlockStatusReport } from '../../../../src/blocks/modes/block-status-report.ts';
import { reportIn } from '../../../../src/commands/status/served-report.ts';
import { isExhausted, problemsOf, statusLines } from '../../../../src/commands/status/status-lines.ts';
import type { StatusReport } from '../../../../src/controller/reporting/status-report.ts';

const idle: StatusReport = {
  version: '1.2.3',
  state: 'leading',
  identity: 'headwater-a-0123456789',
  paused: [],
  reasons: {},
  denied: [],
  nodes: { total: 2, satisfied: 2, in_deficit: 0, at_capacity: 0, blocked: 0, unknown: 0 },
  addresses: { available: 16, used: 4, needed: 0, releasing: 0 },
  pendingPods: 0,
  subnets: [subnet('a', { free: 100 })],
  inDeficit: [],
  warnings: [],
  excluded: [],
  buckets: [bucket('DescribeInstances', {}), bucket('AssignPrivateIpAddresses', {})],
};

function subnet(
  letter: string,
  more: Partial<NonNullable<StatusReport['subnets']>[number]>,
): NonNullable<StatusReport['subnets']>[number] {
  return {
    id: `subnet-0123456789abcdef${letter}`,
    zone: 'eu-central-1a',
    network: 'vpc-1',
    eligible: true,
    cidr: '10.0.0.0/24',
    counted: true,
    size: 256,
    free: 0,
    reserved: 0,
    exhausted: false,
    fragmented: false,
    freeBlocks: undefined,
    held: 60,
    used: 40,
    nodes: 4,
    ...more,
  };
}

function bucket(
  action: string,
  more: Partial<StatusReport['buckets'][number]>,
): StatusReport['buckets'][number] {
  return {
    action,
    tokens: 80,
    capacity: 80,
    refillPerSecond: 4,
    learnedRatio: 1,
    throttled: 0,
    waiting: {},
    ...more,
  };
}

const why =
  'no subnet has free addresses: add a subnet in eu-central-1a that matches --subnet-tags-filter, or free addresses';
const blocked = (
  name: string,
  reason: string,
  text: string,
): NonNullable<StatusReport['inDeficit']>[number] => ({
  name,
  reason,
  why: text,
});

const troubled: StatusReport = {
  ...idle,
  paused: [
    {
      reason: 'conflictingWriter',
      activities: ['release'],
      node: 'node-1',
      parts: ['pool'],
      manager: 'kubectl-edit',
      quietInSeconds: 90,
    },
  ],
  reasons: { SubnetExhausted: 7, NodeUnreadable: 1 },
  withdrawalsHeld: {
    state: 'held',
    why: 'too much is missing at once',
    nodes: 3,
    instances: ['i-1'],
    token: 'abc123',
  },
  unverified: { count: 2, nodes: ['node-8', 'node-9'] },
  denied: [
    {
      permission: 'ec2:CreateTags',
      action: 'CreateNetworkInterface',
      why: 'no',
      remedy: 'grant ec2:CreateTags',
    },
  ],
  nodes: { total: 20, satisfied: 12, in_deficit: 7, at_capacity: 0, blocked: 1, unknown: 0 },
  pendingPods: 4,
  subnets: [
    subnet('a', { free: 100, fragmented: true }),
    subnet('b', { exhausted: true }),
    subnet('c', { counted: false, zone: '' }),
  ],
  inDeficit: [
    ...Array.from({ length: 7 }, (_, index) => blocked(`node-${index}`, 'SubnetExhausted', why)),
    blocked('node-7', 'NodeUnreadable', 'spec.eni is missing'),
  ],
  warnings: [{ node: 'node-3', reason: 'AgentLags', why: 'its agent takes no addresses' }],
  buckets: [
    bucket('AssignPrivateIpAddresses', {
      tokens: 0.25,
      waiting: { critical: 2, normal: 1 },
      throttled: 5,
      learnedRatio: 0.5,
    }),
    bucket('DescribeInstances', {}),
  ],
};

const blocks: BlockStatusReport = {
  state: 'leading',
  identity: 'host-0123456789',
  paused: [{ reason: 'dryRun', activities: ['allocation', 'release', 'ciliumnode-writes', 'events'] }],
  reasons: { PoolExhausted: 2 },
  nodes: { total: 6, served: 4, waiting: 2, leftAlone: 0 },
  pools: [
    {
      pool: 'default',
      family: 'ipv4',
      cidr: '10.0.0.0/16',
      maskSize: 24,
      capacity: 256,
      held: 256,
      free: 0,
      waiting: 2,
    },
    {
      pool: 'default',
      family: 'ipv6',
      cidr: 'fd00:1234:5678:9abc::/56',
      maskSize: 64,
      capacity: 256,
      held: 4,
      free: 252,
      waiting: 0,
      daysLeft: 12.34,
    },
  ],
  waiting: [
    { name: 'n1', podCIDRs: [], reason: 'PoolExhausted', why: 'no block is free' },
    { name: 'n2', podCIDRs: [], reason: 'PoolExhausted', why: 'no block is free' },
  ],
  warnings: [],
};

function shown(report: object, width?: number, unready?: string): readonly string[] {
  const read = reportIn(JSON.stringify(report));
  if (read === undefined) throw new Error('the report was not read');
  return statusLines({ report: read, unready }, width).map(({ text }) => text);
}

describe('what the command status prints', () => {
  test('says of a controller that is well that nothing is wrong', () => {
    expect(shown(idle, 80)).toEqual([
      'headwater-a-0123456789: leading, version 1.2.3',
      'ready       yes',
      'problems    none',
      '',
      'nodes       2 total, 2 satisfied',
      'addresses   16 available, 4 used',
      'pods        0 waiting',
      '',
      'SUBNET                    ZONE           CIDR         SIZE  FREE  HELD  USED',
      'subnet-0123456789abcdefa  eu-central-1a  10.0.0.0/24   256   100    60    40',
      '',
      'rate limits 2 with all of their tokens',
    ]);
  });

  test('says since when it is ready, how old the last read of the cloud is, and when a subnet is full', () => {
    const lines = shown(
      {
        ...idle,
        ready: true,
        readyForSeconds: 600,
        cloudRead: { ageSeconds: 90, problem: 'no answer' },
        cluster: { name: 'blue', tag: 'team', instances: 2, doubt: 'two names' },
        subnets: [subnet('a', { name: 'pods-a', free: 100, daysLeft: 12.34, reserved: 3 })],
      },
      120,
    );

    expect(lines).toEqual(
      expect.arrayContaining([
        'ready       yes, for at least 10 min',
        'cluster     blue, by the tag team of 2 instances; deletes nothing by it: two names',
        'cloud       read 90 s ago; the last try failed: no answer',
        'SUBNET                    NAME    ZONE           CIDR         SIZE  FREE  HELD  USED  RESERVED  DAYS LEFT',
        'subnet-0123456789abcdefa  pods-a  eu-central-1a  10.0.0.0/24   256   100    60    40         3       12.3',
      ]),
    );
    expect(shown({ ...idle, ready: false, notReadyForSeconds: 7300 }, 80, 'it waits')).toContain(
      'ready       no for at least 2 h: it waits',
    );
  });

  test('fits 80 columns, with reasons, nodes and remedies', () => {
    expect(shown(troubled, 80, 'it waits')).toEqual([
      'headwater-a-0123456789: leading, version 1.2.3',
      'ready       no: it waits',
      'problems    it is not ready; 8 nodes with a reason; pods that wait: 4; 1',
      '            permission denied; 1 warning; paused: conflictingWriter',
      'paused      conflictingWriter: release; last write to node-1 by kubectl-edit;',
      '            ends after 90 s without another',
      'held        withdrawals on 3 nodes: too much is missing at once; to approve:',
      '            --allow-withdrawals=abc123',
      'unverified  2 CiliumNodes',
      'denied      ec2:CreateTags: grant ec2:CreateTags',
      '',
      'nodes       20 total, 12 satisfied, 7 in deficit, 1 blocked',
      'addresses   16 available, 4 used',
      'pods        4 waiting',
      '',
      'SubnetExhausted  7 nodes',
      '            no subnet has free addresses: add a subnet in eu-central-1a that',
      '            matches --subnet-tags-filter, or free addresses',
      '            on node-0, node-1, node-2, node-3, node-4 and 2 more',
      'NodeUnreadable  1 node',
      '            spec.eni is missing',
      '            on node-7',
      'AgentLags  1 node',
      '            its agent takes no addresses',
      '            on node-3',
      '',
      'SUBNET                    ZONE           SIZE  FREE  HELD  USED  STATE',
      'subnet-0123456789abcdefb  eu-central-1a   256     0    60    40  exhausted',
      'subnet-0123456789abcdefc                  256     ?    60    40',
      'subnet-0123456789abcdefa  eu-central-1a   256   100    60    40  fragmented',
      '',
      'RATE LIMIT                TOKENS  OF  PER SECOND  WAITING  THROTTLED  LEARNED',
      'AssignPrivateIpAddresses     0.3  80           4        3          5     50 %',
      'rate limits 1 with all of their tokens',
    ]);
  });

  test('has the sum of a dry run', () => {
    const dryRun = {
      verdict: 'no-go',
      sentence: 'no-go: SubnetExhausted on 7 nodes',
      would: { createInterfaces: 1, assign: 23, release: 0, deleteInterfaces: 0 },
    };

    expect(shown({ ...idle, dryRun }, 80).slice(3, 5)).toEqual([
      'dry run     no-go: SubnetExhausted on 7 nodes',
      'dry run     would now: create interfaces 1, assign 23',
    ]);
  });

  test('has the nodes where another program decided otherwise than a dry run, a few of them', () => {
    const decided = [1, 2, 3, 4, 5, 6].map((count) => ({
      node: `n${count}`,
      would: `assign ${count} addresses`,
      did: 'nothing',
    }));
    const dryRun = { sentence: 'go', would: {}, same: 12, otherwise: 7, decidedOtherwise: decided };

    expect(shown({ ...idle, dryRun }, 80).slice(4, 12)).toEqual([
      'dry run     would now: nothing',
      'dry run     another program decided the same on 12 nodes, otherwise on 7',
      'otherwise   n1: would: assign 1 addresses; done: nothing',
      'otherwise   n2: would: assign 2 addresses; done: nothing',
      'otherwise   n3: would: assign 3 addresses; done: nothing',
      'otherwise   n4: would: assign 4 addresses; done: nothing',
      'otherwise   n5: would: assign 5 addresses; done: nothing',
      'otherwise   2 more: headwater explain NODE shows each',
    ]);
  });

  test('has pools of blocks', () => {
    expect(shown(blocks, 80)).toEqual([
      'host-0123456789: leading',
      'ready       yes',
      'problems    2 nodes with a reason',
      'paused      dryRun: allocation, release, ciliumnode-writes, events',
      '',
      'nodes       6 total, 4 served, 2 waiting',
      '',
      'PoolExhausted  2 nodes',
      '            no block is free',
      '            on n1, n2',
      '',
      'POOL     CIDR                      MASK  BLOCKS  HELD  FREE  WAITING  DAYS LEFT',
      'default  10.0.0.0/16                /24     256   256     0        2',
      'default  fd00:1234:5678:9abc::/56   /64     256     4   252        0       12.3',
    ]);
  });

  test.each([
    ['with a free block', [['a', '10.0.0.0/24', 1]], false],
    ['without one', [['a', '10.0.0.0/24', 0]], true],
    [
      'that goes on in another network',
      [
        ['a', '10.0.0.0/24', 0],
        ['a', '10.0.1.0/24', 3],
      ],
      false,
    ],
    [
      'whose networks are all full',
      [
        ['a', '10.0.0.0/24', 0],
        ['a', '10.0.1.0/24', 0],
      ],
      true,
    ],
    [
      'beside one of the other family',
      [
        ['a', '10.0.0.0/24', 0],
        ['a', 'fd00::/56', 3],
      ],
      true,
    ],
    [
      'beside another pool',
      [
        ['a', '10.0.0.0/24', 0],
        ['b', '10.0.1.0/24', 3],
      ],
      true,
    ],
  ] as const)('calls a pool exhausted only if nothing is left: %s', (_, given, expected) => {
    const pools = given.map(([pool, cidr, free]) => ({
      pool,
      cidr,
      free,
      maskSize: 26,
      capacity: 4,
      held: 4 - free,
      waiting: 0,
    }));

    expect(pools.map((pool) => isExhausted(pool, pools))[0]).toBe(expected);
  });

  test('ends long tables on a terminal, and says what the report itself leaves out', () => {
    const subnets = Array.from({ length: 25 }, () => subnet('a', { free: 9 }));
    const report = { ...troubled, subnets, omitted: { inDeficit: 4000, warnings: 1 } };

    const [onTerminal, elsewhere] = [shown(report, 80), shown(report)];

    const rows = (lines: readonly string[]): number =>
      lines.filter((line) => line.startsWith('subnet-')).length;
    expect([rows(onTerminal), rows(elsewhere)]).toEqual([20, 25]);
    expect(onTerminal).toContain('and 5 more');
    expect(elsewhere).not.toContain('and 5 more');
    for (const lines of [onTerminal, elsewhere])
      expect(lines).toContain('omitted     4000 of in deficit, 1 of warnings');
  });

  test('leaves nothing out and breaks no line without a terminal', () => {
    const lines = shown(troubled);

    expect(lines).toContainEqual(expect.stringContaining(why));
    expect(lines).toContainEqual(
      expect.stringContaining('node-0, node-1, node-2, node-3, node-4, node-5, node-6'),
    );
    expect(lines).toContainEqual(
      expect.stringContaining('subnet-0123456789abcdefa  eu-central-1a  10.0.0.0/24'),
    );
  });

  test.each([1, 20, 40, 60, 80, 100, 200])('has no line longer than %d columns', (width) => {
    const lines = [idle, troubled, blocks].flatMap((report) => shown(report, width));

    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  test('is one line a line, whatever names and texts hold', () => {
    const hostile = 'a\u001b[31m\nb\u202e\u0000';
    const report = {
      ...troubled,
      identity: hostile,
      reasons: { [hostile]: 1 },
      nodes: { [hostile]: 1 },
      subnets: [{ ...subnet('a', {}), id: hostile, zone: hostile, cidr: hostile }],
      inDeficit: [blocked(hostile, hostile, hostile)],
      warnings: [{ node: hostile, reason: hostile, why: hostile }],
      buckets: [bucket(hostile, { tokens: 1 })],
      denied: [{ permission: hostile, action: hostile, why: hostile, remedy: hostile }],
      paused: [{ reason: hostile, activities: [hostile], node: hostile, manager: hostile }],
    };

    const text = shown(report, undefined, hostile).join('');

    // eslint-disable-next-line no-control-regex
    expect(text.replace(hostile, '')).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(text).toContain(String.raw`a\u001b[31m\u000ab\u202e\u0000`);
  });

  test('names the options that a restart would change, which is no problem', () => {
    const restartNeeded = ['ipam', 'cluster-name'];

    expect(shown({ state: 'leading', identity: 'a', paused: [], restartNeeded })).toEqual([
      'a: leading',
      'ready       yes',
      'restart needed ipam, cluster-name',
      'problems    none',
    ]);
  });

  test.each([
    '',
    'null',
    '[]',
    '{}',
    '"leading"',
    '{"state":"leading","identity":7,"paused":[]}',
    '{"state":"leading"',
  ])('is nothing for what is no report: %s', (text) => {
    expect(reportIn(text)).toBeUndefined();
  });

  test('is what remains of a report that has less and more than ours', () => {
    expect(shown({ state: 'leading', identity: 'a', paused: [], later: { more: [1] } })).toEqual([
      'a: leading',
      'ready       yes',
      'problems    none',
    ]);
  });
});

describe('a problem', () => {
  test.each<[string, Partial<StatusReport>, string | undefined, readonly string[]]>([
    ['none where all is well', {}, undefined, []],
    ['none in a dry run', { paused: [{ reason: 'dryRun', activities: ['release'] }] }, undefined, []],
    ['none in nodes that get what they need', { nodes: { total: 1, in_deficit: 1 } }, undefined, []],
    ['a process that stands by', { state: 'standby' }, 'it stands by', ['it does not lead: standby']],
    ['a leader that is not ready', {}, 'the cloud is not read', ['it is not ready']],
    ['a reason', { reasons: { A: 1, B: 2 } }, undefined, ['3 nodes with a reason']],
    ['pods that wait', { pendingPods: 1 }, undefined, ['pods that wait: 1']],
    ['a pause', { paused: [{ reason: 'paused', activities: ['release'] }] }, undefined, ['paused: paused']],
    ['a denied permission', { denied: troubled.denied }, undefined, ['1 permission denied']],
    ['a warning', { warnings: troubled.warnings ?? [] }, undefined, ['1 warning']],
  ])('is %s', (_, more, unready, problems) => {
    const report = reportIn(JSON.stringify({ ...idle, ...more }));

    expect(report && problemsOf({ report, unready })).toEqual(problems);
  });
});
