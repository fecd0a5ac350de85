import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts, Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { TrialNode } from './trial-node.ts';

function facts(protocol: Protocol): NodeFacts {
  return {
    name: 'node-1',
    instanceId: 'i-1',
    instanceType: 'm5.xlarge',
    vpcId: 'vpc-1',
    zone: 'eu-central-1a',
    subnetId: 'subnet-1',
    primaryAddress: '10.0.0.4',
    protocol,
    ipam: { preAllocate: 1 },
  };
}

const [one, two, three] = ['10.0.0.5', '10.0.0.6', '10.0.0.7'] as const;

interface State {
  readonly pool?: readonly string[];
  /** Addresses of the interface; by default those of the pool. */
  readonly addresses?: readonly string[];
  readonly used?: readonly string[];
  readonly states?: Readonly<Record<string, string>>;
  readonly pools?: JsonObject;
}

function ciliumNode(
  version: number,
  { pool = [], addresses = pool, used = [], states, pools }: State,
): JsonObject {
  const entries = (names: readonly string[]): JsonObject =>
    Object.fromEntries(names.map((name) => [name, { resource: 'eni-1' }]));
  return {
    metadata: { name: 'node-1', resourceVersion: String(version) },
    spec: { ipam: { pool: entries(pool), ...(pools && { pools }) } },
    status: {
      eni: { enis: { 'eni-1': { id: 'eni-1', addresses } } },
      ipam: { used: entries(used), ...(states && { 'release-ips': states }) },
    },
  };
}

describe('an agent of the CRD allocator', () => {
  /** It uses one and two. */
  function using(): TrialNode {
    const node = new TrialNode(facts('crd-allocator'), 2);
    node.see(ciliumNode(1, { pool: [one, two, three] }));
    node.nextPatch();
    return node;
  }

  test('reports what it uses, and is settled once the report is read and it has what it needs', () => {
    const node = using();

    expect(node.nextPatch()?.body).toMatchObject({
      status: { ipam: { used: { [one]: { resource: 'eni-1' }, [two]: { resource: 'eni-1' } } } },
    });
    expect(node.isSettled).toBe(false);
    node.see(ciliumNode(2, { pool: [one, two, three], used: [one, two] }));
    expect(node.isSettled).toBe(true);
  });

  test.each<[string, State, readonly string[]]>([
    ['leaves the pool', { pool: [two, three] }, [one]],
    ['leaves its interface', { pool: [one, two, three], addresses: [one, three] }, [two]],
    ['is free and leaves both', { pool: [one, two] }, []],
  ])('has lost an address in use that %s', (_, state, lost) => {
    const node = using();

    node.see(ciliumNode(2, state));

    expect([...node.lost]).toEqual(lost);
  });

  test('loses nothing once its machine is gone', () => {
    const node = using();
    node.isGone = true;

    node.see(ciliumNode(2, {}));

    expect(node.lost.size).toBe(0);
    expect(node.inUse.size).toBe(0);
  });

  test('releases a marked address that is free, keeps a marked one in use, and drops a released one', () => {
    const node = using();
    const states = { [one]: 'marked-for-release', [three]: 'marked-for-release', '10.0.0.9': 'released' };

    node.see(ciliumNode(2, { pool: [one, two, three], used: [one, two], states }));

    expect(node.nextPatch()?.body).toEqual({
      status: {
        ipam: {
          'release-ips': { [one]: 'do-not-release', [three]: 'ready-for-release', '10.0.0.9': null },
        },
      },
    });
  });
});

describe('an agent of the multi-pool protocol', () => {
  test('uses only addresses that it has reported as held', () => {
    const node = new TrialNode(facts('multi-pool'), 1);
    node.see(ciliumNode(1, { pool: [one, two, three] }));

    const patch = node.nextPatch();
    const before = node.inUse.size;
    node.see(ciliumNode(2, { pool: [one, two, three], pools: poolsOf([one, two], 2) }));
    node.nextPatch();

    expect(patch?.body).toEqual({ spec: { ipam: { pools: poolsOf([one, two], 2) } } });
    expect(before).toBe(0);
    expect([...node.inUse]).toEqual([one]);
  });
});

function poolsOf(addresses: readonly string[], demand: number): JsonObject {
  return {
    requested: [{ pool: 'default', needed: { 'ipv4-addrs': demand } }],
    allocated: [{ pool: 'default', cidrs: addresses.map((address) => `${address}/32`) }],
  };
}
