// Which addresses and prefixes a node with more than it needs can do without, and what the CiliumNode of an earlier
// process says was on its way. Pure.
import { addressesOf, blockAround, contains, parseAddress } from '../providers/ipv4.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { CiliumNode, ReleaseState } from '../kubernetes/cilium-node.ts';
import type { Holding, Release, Releases } from './address-release.ts';
import { poolName, protocolOf } from './demand.ts';
import { exclusionOf, type NodeRequirements } from './node-requirements.ts';

export interface CandidateFacts {
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
  /** Addresses that the node can do without. */
  readonly excess: number;
  readonly isUsed: (address: string) => boolean;
  /** Releases under way: what is to be released goes on being so. */
  readonly releases: Releases;
  /** Ids that are not to be asked for now. */
  readonly aside: ReadonlySet<string>;
}

export interface RecoveryFacts {
  readonly node: CiliumNode;
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
}

/**
 * As many as the excess allows, what was chosen before first, then from the emptiest interface on: an interface that
 * gets empty can be given back as a whole. Single addresses go before prefixes, so that their slots can take prefixes.
 */
export function releaseCandidates(facts: CandidateFacts): readonly Holding[] {
  const { view, requirements, isUsed, releases, aside } = facts;
  const isFree = (holding: Holding): boolean => !aside.has(holding.id) && !holding.addresses.some(isUsed);
  const interfaces = releasable(view, requirements)
    .map((item) => ({ item, holdings: holdingsOn(item) }))
    .map(({ item, holdings }) => ({ item, holdings, used: usedOf(holdings, isUsed) }))
    .toSorted((a, b) => a.used - b.used || deviceIndexOf(b.item) - deviceIndexOf(a.item));
  const free = interfaces.flatMap(({ holdings }) => holdings.filter(isFree));
  const chosen = (holding: Holding): boolean => releases.has(holding.id);
  const isLeaving = (holding: Holding): boolean => {
    const kind = releases.get(holding.id)?.phase.kind;
    return kind !== undefined && kind !== 'excess' && kind !== 'asked';
  };
  let left = facts.excess;
  const candidates: Holding[] = [];
  for (const holding of [...free.filter(chosen), ...free.filter((each) => !chosen(each))]) {
    if (isLeaving(holding) || holding.addresses.length > left) continue;
    candidates.push(holding);
    left -= holding.addresses.length;
  }
  return candidates;
}

/** Interfaces of which something may be taken: what others use, or what is leaving the instance, is none of ours. */
function releasable(view: InstanceView, requirements: NodeRequirements): readonly NetworkInterface[] {
  return view.interfaces.filter(
    (item) => exclusionOf(item, requirements) === undefined && item.attachment?.state === 'attached',
  );
}

/** What can leave an interface: its secondary addresses and its prefixes, never its primary address. */
export function holdingsOn(item: NetworkInterface): readonly Holding[] {
  const single = item.addresses
    .filter((address) => address !== item.primaryAddress)
    .map((address) => ({ id: address, interfaceId: item.id, addresses: [address] }));
  const blocks = item.prefixes.map((id) => ({ id, interfaceId: item.id, addresses: addressesOf(id) }));
  return [...single, ...blocks];
}

/** Whether the agent says that it uses an address: has it in use, or holds the CIDR that it is in. */
export function usageOf(node: CiliumNode): (address: string) => boolean {
  const { used } = node.status;
  if (protocolOf(node) === 'crd') return (address) => used.has(address);
  const cidrs = allocatedCidrs(node);
  const single = new Set(cidrs.filter((cidr) => cidr.endsWith('/32')).map((cidr) => cidr.slice(0, -3)));
  const blocks = cidrs.flatMap((cidr) => (cidr.endsWith('/32') ? [] : (blockAround(cidr) ?? [])));
  return (address) =>
    single.has(address) || blocks.some((block) => contains(block, parseAddress(address) ?? -1));
}

/** Whether an agent has told what it holds: before that, nothing that it does not name is free. */
export function tellsUse(node: CiliumNode): boolean {
  return protocolOf(node) === 'crd' || allocatedCidrs(node).length > 0;
}

/** Releases that an earlier process began, as far as the CiliumNode and the cloud tell. What is in use is none. */
export function recoverReleases({ node, view, requirements }: RecoveryFacts, now: number): Releases {
  const isUsed = usageOf(node);
  const holdings = releasable(view, requirements).flatMap(holdingsOn);
  const releases = protocolOf(node) === 'crd' ? handshakesOf({ node, view }, holdings, now) : [];
  const going = releases.filter(({ holding }) => !holding.addresses.some(isUsed));
  return new Map(going.map((release) => [release.holding.id, release]));
}

function handshakesOf(
  { node, view }: Pick<RecoveryFacts, 'node' | 'view'>,
  holdings: readonly Holding[],
  now: number,
): readonly Release[] {
  const handshake = node.status.releaseIps;
  const held = new Map(
    holdings.flatMap((holding) => holding.addresses.map((each) => [each, holding] as const)),
  );
  const open = new Set([...handshake.keys()].flatMap((address) => held.get(address) ?? []));
  const going = [...open].flatMap((holding): readonly Release[] => {
    const kind = recoveredPhase(holding.addresses.map((address) => handshake.get(address)));
    return kind === undefined ? [] : [{ holding, protocol: 'crd', phase: { kind } }];
  });
  const there = new Set(view.interfaces.flatMap(holdingsOn).flatMap(({ addresses }) => addresses));
  const gone = [...handshake].filter(
    ([address, state]) => state === 'released' || (state === 'ready-for-release' && !there.has(address)),
  );
  const released = gone.map(
    ([id]): Release => ({
      holding: { id, interfaceId: held.get(id)?.interfaceId ?? '', addresses: [id] },
      protocol: 'crd',
      phase: { kind: 'released', since: now },
    }),
  );
  return [...going, ...released];
}

function recoveredPhase(states: readonly (ReleaseState | undefined)[]): 'asked' | 'leaving' | undefined {
  if (states.includes('do-not-release') || states.includes('released')) return undefined;
  return states.every((state) => state === 'ready-for-release') ? 'leaving' : 'asked';
}

/** Whether the CiliumNode shows an address to its agent, in the pool or on an interface. */
export function shownTo(node: CiliumNode): (address: string) => boolean {
  const shown = new Set([...node.status.eni.values()].flatMap(({ addresses }) => addresses));
  const { pool } = node.ipam;
  return (address) => pool.has(address) || shown.has(address);
}

function allocatedCidrs(node: CiliumNode): readonly string[] {
  return node.ipam.allocated.filter(({ pool }) => pool === poolName).flatMap(({ cidrs }) => cidrs);
}

function usedOf(holdings: readonly Holding[], isUsed: (address: string) => boolean): number {
  return holdings.flatMap(({ addresses }) => addresses).filter(isUsed).length;
}

function deviceIndexOf({ attachment }: NetworkInterface): number {
  return attachment?.deviceIndex ?? 0;
}
