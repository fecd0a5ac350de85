import { describe, expect, test } from '@jest/globals';
import { AddressIndex } from '../../../../src/manager/claims/address-index.ts';
import type { Assessment } from '../../../../src/node/conditions/assessment.ts';
import type { Json } from '../../../../src/runtime/json.ts';
import { DesiredState } from '../../../../src/node/reconcile/desired-state.ts';
import type { CloudPort, NodeWriter } from '../../../../src/node/reconcile/node-context.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { eni, infrastructure, m5Large, requirements, subnet, view } from '../allocation-facts.ts';
import { scriptedImplementation, scriptedSection } from '../../providers/scripted-implementation.ts';
import { nodeOf } from '../cilium-nodes.ts';

const served: Assessment = {
  kind: 'served',
  requirements: requirements(),
  limits: m5Large,
  usage: { available: 2, used: 0, pendingPods: 0 },
  retired: [],
  retiredInUse: 0,
  marks: { preAllocate: 8, minAllocate: 0, maxAllocate: 0, maxAboveWatermark: 0 },
  needed: 0,
  wanted: 0,
  toAllocate: 0,
  ipv6: 'notAsked',
  excess: 0,
  cap: undefined,
};

class Rig {
  assessment = served;
  readonly outgoing = new Set<string>();
  readonly releases = { handshake: () => new Map(), outgoing: this.outgoing };
  readonly idle = { leaving: new Set<string>() };
  node = nodeOf({});
  view = view([eni(0, 2)]);
  readonly network = { infrastructure: infrastructure([subnet('subnet-1')]) };
  isVerified = true;
  movedAway: ReadonlySet<string> = new Set();
  /** Interfaces that the status of the CiliumNode shows. */
  restored: readonly NetworkInterface[] = [];
  /** Addresses that were left out of the newest status. */
  excluded: ReadonlySet<string> = new Set();
  readonly claims = new AddressIndex(() => undefined, {
    evidence: () => 'shown',
    now: () => 0,
    maxWait: 30_000,
    onWait: () => undefined,
  });
  readonly instanceId = 'i-1';
  readonly state = new DesiredState(
    {
      cloud: {
        inventory: {
          view: () => this.view,
          movedAway: () => this.movedAway,
        },
        network: this.network,
        implementation: scriptedImplementation({
          section: scriptedSection({
            status: (_, { excluded }) => {
              this.excluded = excluded;
              return { enis: {} };
            },
            restore: () => ({ interfaces: this.restored, subnets: new Map(), networks: new Map() }),
          }),
        }),
      } as unknown as CloudPort,
      fleet: {
        claims: this.claims,
        identities: { isKnown: true, isVerified: () => this.isVerified },
        kubelets: { admittedPods: () => undefined },
      },
      writer: { schema: { prune: (value: Json) => value, knows: () => true } } as unknown as NodeWriter,
    },
    this,
    false,
  );

  /** Claims, and computes the desired state. */
  now(): ReturnType<DesiredState['now']> {
    this.state.claim(this.assessment);
    return this.state.now(this.assessment, '');
  }
}

describe('the desired state of a CiliumNode', () => {
  test('is computed once, and not again while the object is known to hold it', () => {
    const rig = new Rig();

    const first = rig.now();
    const second = rig.now();
    rig.state.published(rig.node);
    const held = rig.now();

    expect([...(first?.offer?.pool.keys() ?? [])]).toEqual(rig.view.interfaces[0]?.addresses);
    expect(second?.offer).toBe(first?.offer);
    expect(held).toMatchObject({ offer: undefined, operatorError: '' });
  });

  test('is offered again if a newer state of the object arrived since the comparison', () => {
    const rig = new Rig();
    rig.now();
    const compared = rig.node;
    rig.node = nodeOf({});

    rig.state.published(compared);

    expect(rig.now()?.offer).toBeDefined();
  });

  test.each<[string, (rig: Rig) => void]>([
    ['a newer state of the object', (rig) => (rig.node = nodeOf({}))],
    ['a change of the instance', (rig) => (rig.view = view([eni(0, 3)]))],
    ['a change of the network', (rig) => (rig.network.infrastructure = infrastructure([subnet('subnet-1')]))],
  ])('is offered again after %s', (_what, change) => {
    const rig = new Rig();
    rig.now();
    rig.state.published(rig.node);

    change(rig);

    expect(rig.now()?.offer).toBeDefined();
  });

  test.each<[string, (rig: Rig, address: string) => void, isGone: boolean]>([
    ['an address is to be released', (rig, address) => rig.outgoing.add(address), true],
    [
      'the node wants something else',
      (rig) => (rig.assessment = { ...served, requirements: requirements({ firstInterfaceIndex: 1 }) }),
      true,
    ],
    [
      'the type of the instance turns out to hold more',
      (rig) => (rig.assessment = { ...served, limits: { ...m5Large, interfaces: 9 } }),
      false,
    ],
  ])('changes once %s, and nothing else has changed', (_what, change, isGone) => {
    const rig = new Rig();
    const first = rig.now()?.offer;
    const [address = ''] = rig.view.interfaces[0]?.addresses ?? [];

    change(rig, address);
    const second = rig.now()?.offer;

    expect(second).not.toBe(first);
    expect(second?.pool.has(address)).toBe(!isGone);
  });

  test('has a prefix whole or not at all, unless a part of it is published already', () => {
    const prefix = '10.0.0.16/28';
    const pool = { '10.0.0.18': { resource: 'eni-0' } };
    const offered = (shown: Parameters<typeof nodeOf>[0]): readonly string[] => {
      const rig = new Rig();
      const { networkId } = requirements();
      rig.claims.claim({ name: 'other', networkId, addresses: ['10.0.0.17'] });
      rig.node = nodeOf(shown);
      rig.view = view([{ ...eni(0, 1), prefixes: [prefix] }]);
      const [own = ''] = rig.view.interfaces[0]?.addresses ?? [];
      return [...(rig.now()?.offer?.pool.keys() ?? [])].filter((address) => address !== own);
    };

    expect([offered({}), offered({ pool })]).toEqual([[], ['10.0.0.18']]);
  });

  test('keeps what is published while no Node verifies the instance, and withdraws it once one does', () => {
    const rig = new Rig();
    rig.node = nodeOf({ pool: { '10.0.0.99': { resource: 'eni-9' } } });
    rig.isVerified = false;

    const before = rig.now()?.offer;
    rig.state.published(rig.node);
    const held = rig.now()?.offer;
    rig.isVerified = true;
    const after = rig.now()?.offer;

    expect([before, after].map((offer) => offer?.pool.has('10.0.0.99'))).toEqual([true, false]);
    expect(held).toBeUndefined();
  });

  test('lacks what another node has and the cloud does not show here, also in the status', () => {
    const rig = new Rig();
    const [item = eni(0, 2)] = rig.view.interfaces;
    const [address = ''] = item.addresses;
    rig.node = nodeOf({ enis: { [item.id]: item.addresses } });
    rig.restored = [item];
    rig.view = { ...rig.view, possiblyGone: new Set([address]) };
    rig.isVerified = false;

    rig.now();
    const before = rig.excluded.has(address);
    rig.state.published(rig.node);
    rig.claims.claim({ name: 'other', networkId: item.networkId, addresses: [address] });
    rig.now();

    expect([before, rig.excluded.has(address)]).toEqual([false, true]);
  });

  test('lacks what the cloud showed elsewhere, even while no Node verifies the instance', () => {
    const rig = new Rig();
    const resource = 'eni-9';
    rig.node = nodeOf({ pool: { '10.0.0.98': { resource }, '10.0.0.99': { resource } } });
    rig.isVerified = false;
    rig.movedAway = new Set(['10.0.0.99']);

    const { pool } = rig.now()?.offer ?? {};

    expect([pool?.has('10.0.0.98'), pool?.has('10.0.0.99')]).toEqual([true, false]);
  });
});
