// Chooses the addresses and prefixes that a node can release, and restores the releases of an earlier process
// from the CiliumNode. Pure.
import { blockAround, contains, parseAddress } from '../../providers/contract/ipv4.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import type { CiliumNode, ReleaseState } from '../../kubernetes/cilium-node/cilium-node.ts';
import { shownTo } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { PodUse } from './pod-use.ts';
import type { Release, Releases } from './release-state.ts';
import { poolName, protocolOf } from '../demand/demand.ts';
import { type Holding, holdingsIn, isUnfit, secondaryHoldings, unfitOn } from '../demand/holdings.ts';
import {
  exclusionOf,
  type NodeRequirements,
  type ServedNode,
  sparedOn,
} from '../demand/node-requirements.ts';

export interface CandidateFacts {
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
  /** Addresses above what the node needs. */
  readonly excess: number;
  readonly isUsed: (address: string) => boolean;
  /** Releases in flight; they stay candidates. */
  readonly releases: Releases;
  /** Ids that the back-off excludes now. */
  readonly blocked: ReadonlySet<string>;
}

/**
 * Returns as many holdings as the excess allows: earlier choices first, then the emptiest interface first,
 * because an empty interface can be deleted. Single addresses go before prefixes, because free slots can then
 * take prefixes.
 */
export function releaseCandidates(facts: CandidateFacts): readonly Holding[] {
  const { view, requirements, isUsed, releases, blocked } = facts;
  const isFree = (holding: Holding): boolean => !blocked.has(holding.id) && !holding.addresses.some(isUsed);
  const interfaces = releasable(view, requirements)
    .map((item) => ({ item, holdings: secondaryHoldings(item) }))
    .map(({ item, holdings }) => ({ item, holdings, used: usedOf(holdings, isUsed) }))
    .toSorted((a, b) => a.used - b.used || deviceIndexOf(b.item) - deviceIndexOf(a.item));
  const free = interfaces.flatMap(({ holdings }) => holdings.filter(isFree));
  const chosen = (holding: Holding): boolean => releases.has(holding.id);
  let left = facts.excess;
  const candidates: Holding[] = [];
  for (const holding of [...free.filter(chosen), ...free.filter((each) => !chosen(each))]) {
    if (isLeavingIn(releases, holding.id) || holding.addresses.length > left) continue;
    candidates.push(holding);
    left -= holding.addresses.length;
  }
  return candidates;
}

/**
 * Holdings that pods must not have and that the agent does not use. They go whatever the node needs, because
 * pods cannot use them.
 */
export function retiredCandidates({
  retired,
  isUsed,
  releases,
  blocked,
}: Pick<CandidateFacts, 'isUsed' | 'releases' | 'blocked'> & {
  readonly retired: readonly Holding[];
}): readonly Holding[] {
  return retired.filter(
    ({ id, addresses }) => !blocked.has(id) && !addresses.some(isUsed) && !isLeavingIn(releases, id),
  );
}

/** The agent has agreed to the release, so it is no candidate again. */
function isLeavingIn(releases: Releases, id: string): boolean {
  const kind = releases.get(id)?.phase.kind;
  return kind !== undefined && kind !== 'excess' && kind !== 'asked';
}

/** Interfaces that may lose something; not those that others use or that are leaving the instance. */
function releasable(view: InstanceView, requirements: NodeRequirements): readonly NetworkInterface[] {
  return view.interfaces.filter(
    (item) => exclusionOf(item, requirements) === undefined && item.attachment?.state === 'attached',
  );
}

/** Whether the agent reports an address as used: in use, or inside a CIDR that it holds. */
export function usageOf(node: Pick<CiliumNode, 'ipam' | 'status'>): (address: string) => boolean {
  const { used } = node.status;
  if (protocolOf(node) === 'crd') return (address) => used.has(address);
  const cidrs = allocatedCidrs(node);
  const single = new Set(cidrs.filter((cidr) => cidr.endsWith('/32')).map((cidr) => cidr.slice(0, -3)));
  const blocks = cidrs.flatMap((cidr) => (cidr.endsWith('/32') ? [] : (blockAround(cidr) ?? [])));
  return (address) =>
    single.has(address) || blocks.some((block) => contains(block, parseAddress(address) ?? -1));
}

/**
 * `usageOf`, plus what running pods keep, plus addresses with an associated public address: a release would end that
 * association. What pods must not have leaves without a call, and keeps it.
 */
export function usageIn(
  node: CiliumNode,
  { view, requirements }: Pick<CandidateFacts, 'view' | 'requirements'>,
  podUse?: Pick<PodUse, 'keeps'>,
): (address: string) => boolean {
  const isReported = usageOf(node);
  const associated = new Set(
    view.interfaces.flatMap((item) => {
      const { associated: all = [] } = item;
      if (all.length === 0 || exclusionOf(item, requirements) !== undefined) return [];
      const spared = sparedOn(item, requirements);
      return all.filter((address) => !spared.includes(address));
    }),
  );
  return (address) => isReported(address) || podUse?.keeps(address) === true || associated.has(address);
}

/** Whether the agent has reported its use. Before that, every address counts as used. */
export function reportsUse(node: CiliumNode): boolean {
  return protocolOf(node) === 'crd' || allocatedCidrs(node).length > 0;
}

/**
 * Releases that an earlier process started, as far as the CiliumNode and the cloud show. An address in use is
 * none. An agent that is not asked shows nothing of them.
 */
export function recoverReleases(facts: ServedNode, now: number): Releases {
  const { node } = facts;
  if (protocolOf(node) !== 'crd') return new Map();
  const isUsed = usageIn(node, facts);
  const going = handshakesOf(facts, now).filter(({ holding }) => !holding.addresses.some(isUsed));
  return new Map(going.map((release) => [release.holding.id, release]));
}

/**
 * Holdings that can leave the node, by a call or because pods must not have them. An interface that is leaving takes its
 * own holdings along.
 */
function leavableOn(item: NetworkInterface, requirements: NodeRequirements): readonly Holding[] {
  if (item.attachment?.state !== 'attached') return [];
  const unfit = unfitOn(item, requirements);
  return exclusionOf(item, requirements) === undefined ? [...secondaryHoldings(item), ...unfit] : unfit;
}

function handshakesOf({ node, view, requirements }: ServedNode, now: number): readonly Release[] {
  const handshake = node.status.releaseIps;
  const holdings = view.interfaces.flatMap((item) => leavableOn(item, requirements));
  const held = new Map(
    holdings.flatMap((holding) => holding.addresses.map((each) => [each, holding] as const)),
  );
  const open = new Set([...handshake.keys()].flatMap((address) => held.get(address) ?? []));
  const isShown = shownTo(node);
  const mustGo = isUnfit(view, requirements);
  const going = [...open].flatMap((holding): readonly Release[] => {
    const agreed = recoveredPhase(holding.addresses.map((address) => handshake.get(address)));
    if (agreed === undefined) return [];
    // Its call may have been sent, and takes the holding however late. What pods must not have leaves without a call.
    const mayBeCalled = agreed === 'leaving' && !holding.addresses.some(isShown) && !mustGo(holding);
    return [{ holding, protocol: 'crd', phase: { kind: mayBeCalled ? 'unanswered' : agreed } }];
  });
  const there = new Set(holdingsIn(view, requirements).flatMap(({ addresses }) => addresses));
  const gone = [...handshake].filter(
    ([address, state]) => state === 'released' || (state === 'ready-for-release' && !there.has(address)),
  );
  const undecided = view.interfaces.find((item) => item.condition === 'changing' || view.unseen.has(item.id));
  const released = gone.map(([id, state]): Release => {
    const interfaceId = held.get(id)?.interfaceId ?? undecided?.id ?? '';
    // Holdings that a change under way takes come back if it fails, and it may be under way until a read shows the interface.
    const isOpen = state !== 'released' && undecided !== undefined;
    const phase = isOpen ? ({ kind: 'unanswered' } as const) : ({ kind: 'released', since: now } as const);
    return { holding: { id, interfaceId, addresses: [id] }, protocol: 'crd', phase };
  });
  return [...going, ...released];
}

function recoveredPhase(states: readonly (ReleaseState | undefined)[]): 'asked' | 'leaving' | undefined {
  if (states.includes('do-not-release') || states.includes('released')) return undefined;
  return states.every((state) => state === 'ready-for-release') ? 'leaving' : 'asked';
}

function allocatedCidrs(node: Pick<CiliumNode, 'ipam'>): readonly string[] {
  return node.ipam.allocated.filter(({ pool }) => pool === poolName).flatMap(({ cidrs }) => cidrs);
}

function usedOf(holdings: readonly Holding[], isUsed: (address: string) => boolean): number {
  return holdings.flatMap(({ addresses }) => addresses).filter(isUsed).length;
}

function deviceIndexOf({ attachment }: NetworkInterface): number {
  return attachment?.deviceIndex ?? 0;
}
