// The cloud of a trial: nodes in three zones, each with pod addresses on two interfaces from the start, so that a fleet of
// thousands needs no scale-up first.
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';

export const region = 'eu-central-1';
export const otherRegion = 'eu-west-1';
export const account = '123456789012';
/** Factor on every rate limit of the cloud, because a trial does not test them. */
export const limitScale = 20;

/** Pod addresses of a node on its primary and on its second interface. */
const onPrimary = 5;
const onSecond = 9;
/** Addresses that each node uses at the start, and free ones. */
export const usedAtFirst = 10;
export const preAllocate = onPrimary + onSecond - usedAtFirst;

export interface TrialPlan {
  readonly nodes: number;
  /** How long a terminated instance is still shown, in ms. */
  readonly terminatedVisibleMs: number;
}

export type ZoneName = 'a' | 'b' | 'c';

const shares: Readonly<Record<ZoneName, number>> = { a: 0.4, b: 0.4, c: 0.2 };
const zoneNames = Object.keys(shares) as readonly ZoneName[];

/** The arguments of simulate. */
export function trialTopology({ nodes, terminatedVisibleMs }: TrialPlan): string {
  const counts = countsOf(nodes);
  return JSON.stringify({
    ...processEnvironment(region),
    vpcs: [{ name: 'production', blocks: ['10.20.0.0/16', '10.21.0.0/16'] }],
    subnets: zoneNames.flatMap((name, index) => [
      {
        name: `nodes-${name}`,
        zone: region + name,
        block: `10.20.${64 * index}.0/${name === 'c' ? tightLength(counts.c) : 18}`,
      },
      { name: `pods-${name}`, zone: region + name, block: `10.21.${64 * index}.0/18` },
    ]),
    routeTables: [
      { name: 'private', subnets: zoneNames.flatMap((name) => [`nodes-${name}`, `pods-${name}`]) },
    ],
    instances: zoneNames.map((name) => ({
      name: `node-${name}`,
      type: 'm5.xlarge',
      count: counts[name],
      subnet: `nodes-${name}`,
      addresses: onPrimary,
      securityGroups: ['nodes'],
      interfaces: [
        { subnet: `pods-${name}`, deviceIndex: 1, addresses: onSecond, securityGroups: ['nodes'] },
      ],
    })),
    times: { attachMs: 200, detachMs: 200, startMs: 200, stopMs: 200, terminateMs: 200, terminatedVisibleMs },
  });
}

/** A region that has nothing of the cluster but its name. */
export function otherRegionTopology(): string {
  return JSON.stringify({
    ...processEnvironment(otherRegion),
    vpcs: [{ name: 'production', blocks: ['10.20.0.0/16'] }],
    subnets: [{ name: 'nodes', zone: `${otherRegion}a`, block: '10.20.0.0/18' }],
    instances: [
      {
        name: 'other',
        type: 'm5.xlarge',
        count: 3,
        subnet: 'nodes',
        addresses: onPrimary,
        securityGroups: ['nodes'],
      },
    ],
  });
}

/** Recently freed addresses are assigned first. */
function processEnvironment(name: string): object {
  return {
    account,
    region: name,
    seed: 'trial',
    securityGroups: [{ name: 'nodes' }],
    limits: { scale: limitScale },
    latency: { scale: 0.1, spread: 0 },
    consistency: { visibilityDelayMs: { min: 0, max: 500 }, listingLagMs: { min: 0, max: 1000 } },
    reuse: 1,
  };
}

/** Length of a block in which most assigned addresses had an earlier owner, with room for each node to grow. */
function tightLength(nodes: number): number {
  return 32 - Math.ceil(Math.log2(nodes * 10 + 16));
}

function countsOf(nodes: number): Readonly<Record<ZoneName, number>> {
  const c = Math.round(nodes * shares.c);
  const b = Math.round(nodes * shares.b);
  return { a: nodes - b - c, b, c };
}

interface InstanceState {
  readonly id: string;
  readonly type: string;
  readonly state: string;
}

export interface InterfaceState {
  readonly id: string;
  readonly instanceId?: string;
  readonly deviceIndex?: number;
  readonly primaryAddress: string;
  readonly addresses: readonly string[];
  readonly subnetId: string;
  readonly vpcId: string;
  readonly zone: string;
}

/** The relevant state of the model. */
export interface TrialState {
  readonly vpcs: readonly { readonly id: string }[];
  readonly groups: readonly { readonly id: string }[];
  readonly instances: readonly InstanceState[];
  readonly interfaces: readonly InterfaceState[];
}

/** The facts of the machines for agents, ordered by name; the two protocols alternate. */
export function machinesOf(state: TrialState, prefix: string, ids?: ReadonlySet<string>): NodeFacts[] {
  const types = new Map(state.instances.map(({ id, type }) => [id, type]));
  return state.interfaces
    .filter(({ instanceId = '', deviceIndex }) => deviceIndex === 0 && (ids?.has(instanceId) ?? true))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((each, index) => ({
      name: `${prefix}-${String(index).padStart(5, '0')}`,
      instanceId: each.instanceId ?? '',
      instanceType: types.get(each.instanceId ?? '') ?? '',
      vpcId: each.vpcId,
      zone: each.zone,
      subnetId: each.subnetId,
      primaryAddress: each.primaryAddress,
      protocol: index % 2 === 0 ? ('crd-allocator' as const) : ('multi-pool' as const),
      ipam: { preAllocate },
    }));
}
