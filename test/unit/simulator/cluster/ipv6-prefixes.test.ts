import { describe, expect, test } from '@jest/globals';
import type { NetworkInterface } from '../../../../src/simulator/cloud/records.ts';
import type { CheckedCluster } from '../../../../src/simulator/cluster/checked-cluster.ts';
import {
  hasItsPrefix,
  ipv6Standings,
  ipv6Violations,
} from '../../../../src/simulator/cluster/ipv6-prefixes.ts';
import type { JsonObject } from '../../../../src/simulator/workload/json.ts';
import type { NodeView } from '../../../../src/simulator/workload/node-view.ts';
import { nodeFacts } from '../workload/cluster.ts';

const prefix = '2600:1f14:1:1:a::/80';
const other = '2600:1f14:1:1:b::/80';
const address = '2600:1f14:1:1:a::7';

interface Part {
  readonly held?: readonly string[];
  readonly shown?: readonly string[];
  /** CIDRs that the agent holds. */
  readonly kept?: readonly string[];
  readonly used?: readonly string[];
  readonly deviceIndex?: number;
}

/** A cluster with one node of each part. */
function clusterOf(...parts: readonly Part[]): CheckedCluster {
  const name = (index: number): string => `node-${index}`;
  const interfaces = parts.map(({ held = [], deviceIndex = 1 }, index): [string, NetworkInterface] => [
    `eni-${index}`,
    { instanceId: `i-${index}`, deviceIndex, ipv6Prefixes: held } as unknown as NetworkInterface,
  ]);
  const views = parts.map(
    ({ used = [] }, index) =>
      ({
        nodeName: name(index),
        facts: {
          ...nodeFacts,
          name: name(index),
          instanceId: `i-${index}`,
          ipv6: true,
          eni: { firstInterfaceIndex: 1 },
        },
        protocol: 'multi-pool',
        ipv6InUse: new Map(used.map((each) => [each, 'default/a'])),
      }) as unknown as NodeView,
  );
  const nodes = new Map(
    parts.map(({ shown = [], kept = [] }, index): [string, JsonObject] => [
      name(index),
      {
        spec: { ipam: { pools: { allocated: [{ pool: 'default', cidrs: kept }] } } },
        status: { eni: { enis: { e: { id: 'e', 'ipv6-prefixes': shown } } } },
      },
    ]),
  );
  return {
    network: { interfaces: new Map(interfaces) } as unknown as CheckedCluster['network'],
    workload: { views, violations: [] },
    kubernetes: { get: (_, node) => nodes.get(node), list: () => [...nodes.values()] },
  };
}

const whole = { held: [prefix], shown: [prefix], kept: [prefix], used: [address] };

describe('the IPv6 addresses in use', () => {
  test.each<readonly [string, readonly Part[], readonly string[]]>([
    ['held and shown', [whole], []],
    ['not held', [{ ...whole, held: [other] }], ['used-address-not-held']],
    ['not shown', [{ ...whole, shown: [other] }], ['used-address-hidden']],
    ['not shown, and given up by the agent', [{ ...whole, shown: [], kept: [] }], []],
    ['used twice', [whole, { ...whole, shown: [], kept: [] }], ['address-used-twice']],
    [
      'of a prefix that is shown twice',
      [whole, { held: [prefix], shown: [prefix] }],
      ['address-offered-twice'],
    ],
  ])('are judged where they are %s', (_, parts, expected) => {
    expect(ipv6Violations(clusterOf(...parts)).map(({ what }) => what)).toEqual(expected);
  });
});

describe('a node that asks for IPv6', () => {
  test.each<readonly [string, Part, boolean]>([
    ['has one prefix and shows it', { held: [prefix], shown: [prefix] }, true],
    ['has none', {}, false],
    ['does not show it', { held: [prefix] }, false],
    ['has two', { held: [prefix, other], shown: [prefix, other] }, false],
    [
      'has one on an interface that is not for pods',
      { held: [prefix], shown: [prefix], deviceIndex: 0 },
      false,
    ],
  ])('%s', (_, part, expected) => {
    const [standing] = ipv6Standings(clusterOf(part));

    expect(standing !== undefined && hasItsPrefix(standing)).toBe(expected);
  });
});
