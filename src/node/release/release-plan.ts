// Plans the releases of a node: which addresses above its watermarks may go, which that pods must not have must go,
// which are needed again, and when each takes its next step. Pure.
import { shownTo } from '../../kubernetes/cilium-node/shown-addresses.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import { type AgentProtocol, isForeignAgent, protocolOf } from '../demand/demand.ts';
import { type Holding, holdingsIn, isUnfit, placeOf } from '../demand/holdings.ts';
import type { ServedNode } from '../demand/node-requirements.ts';
import { releaseCandidates, reportsUse, retiredCandidates, usageIn } from './prepare-ip-release.ts';
import type { PodUse } from './pod-use.ts';
import { isHiding, nextReleases, type Release, type Releases } from './release-state.ts';

export interface ReleasePolicy {
  /** Whether excess addresses are released. What pods must not have leaves regardless. */
  readonly enabled: boolean;
  /** How long a holding must be in excess before its release starts, in ms. */
  readonly delay: number;
  /** How long a holding stays hidden from multi-pool agents before it is unassigned, in ms. */
  readonly hiddenFor: number;
  /** How long an interface must be without pod addresses before it is deleted, in ms; undefined keeps it. */
  readonly idleDelay: number | undefined;
}

export interface ReleasableFacts extends ServedNode {
  /** Addresses above the watermarks, and addresses to gain; outgoing addresses count as gone. */
  readonly excess: number;
  readonly wanted: number;
  /** Holdings that stay offered, although pods must not have them, until the agent gives them up. */
  readonly retired: readonly Holding[];
  readonly lastWrite: LastWrite;
  /** Interfaces to which addresses are being added. */
  readonly growing: ReadonlySet<string>;
}

/** The last write of this process to a CiliumNode. Times are monotonic, in ms. */
export interface LastWrite {
  /** -Infinity before the first one. */
  readonly at: number;
  /** Until when such a write may still take effect; Infinity while the API server owes the answer. */
  readonly openUntil: number;
}

export interface ReleaseRules {
  readonly policy: ReleasePolicy;
  readonly traits: Pick<CloudTraits, 'poolRequests' | 'change'>;
  /** How long the cloud may take to show a change, in ms. */
  readonly consistencyWindow: number;
  /** Whether anything may start to leave. */
  readonly mayDecide: boolean;
  /** Ids of the holdings that agents refused to give up. */
  readonly blocked: ReadonlySet<string>;
  /** Ids of the holdings that the cloud refused to take. */
  readonly refused: ReadonlySet<string>;
  /** Addresses that running pods show. */
  readonly podUse: Pick<PodUse, 'keeps' | 'isLookedAt'>;
}

/** When a release takes its next step. */
interface Times {
  readonly policy: ReleasePolicy;
  readonly lastWrite: Pick<LastWrite, 'at'>;
}

/** Advances every release as far as the facts allow. */
export function planReleases(
  before: Releases,
  facts: ReleasableFacts,
  rules: ReleaseRules & { readonly now: number },
): Releases {
  const { node, view, requirements, lastWrite } = facts;
  const { policy, now, consistencyWindow } = rules;
  const proposed = proposedReleases(before, facts, rules);
  if (before.size === 0 && proposed.length === 0) return before;
  const held = holdingsIn(view, requirements);
  const ids = new Set(held.map(({ id }) => id));
  const places = new Set(held.map(placeOf));
  const protocol = protocolOf(node);
  const changing = changingInterfaces(before, facts, rules.traits);
  // An interface that no read has shown yet may be changing too.
  const isOpen = changing.size > 0 || view.interfaces.some(({ id }) => view.unseen.has(id));
  const next = (releases: Releases): Releases =>
    nextReleases(releases, {
      candidates: releases === before ? proposed : proposedReleases(releases, facts, rules),
      reclaimed: reclaimedReleases(releases, facts, rules),
      agent: {
        protocol,
        handshake: node.status.releaseIps,
        isUsed: usageIn(node, facts, rules.podUse),
        isLookedAt: ({ addresses }) => rules.podUse.isLookedAt(addresses),
        isShown: shownTo(node),
      },
      cloud: {
        isUnfit: isUnfit(view, requirements),
        isHeld: (holding) => places.has(placeOf(holding)),
        isBack: ({ id }) => ids.has(id),
        isChanging: (holding) =>
          changing.has(holding.interfaceId) || (isOpen && !places.has(placeOf(holding))),
      },
      timing: {
        now,
        delay: delayFor(protocol, policy),
        mayHideAt: mayHideAt(protocol, releases, { policy, lastWrite }),
        consistencyWindow,
      },
    });
  const after = next(before);
  // A batch that waited for hidden holdings to go can advance in the same pass.
  return isHiding(before) && !isHiding(after) ? next(after) : after;
}

/**
 * Interfaces that are changing, by our own call or another's: the end of the change decides what they have. A call with a
 * lost answer may be going on until a read that began late enough shows what became of it.
 */
function changingInterfaces(
  releases: Releases,
  { view, growing }: ReleasableFacts,
  { change }: ReleaseRules['traits'],
): ReadonlySet<string> {
  const mayGoOn = ({ holding, phase: { kind } }: Release): boolean =>
    kind === 'unassigning' || (kind === 'unanswered' && view.possiblyGone.has(holding.id));
  const isOurs = growing.size > 0 || [...releases.values()].some(mayGoOn);
  const isWhole = change === 'perInstance' && isOurs;
  const changing = view.interfaces.filter(({ condition }) => isWhole || condition === 'changing');
  return new Set(changing.map(({ id }) => id));
}

/** Whether anything is to leave the node, as soon as it may. */
export function isToLeave(facts: ReleasableFacts, policy: ReleasePolicy): boolean {
  return isExcessive(facts, policy) || facts.retired.length > 0;
}

function isExcessive({ excess, wanted }: ReleasableFacts, { enabled }: ReleasePolicy): boolean {
  return enabled && wanted === 0 && excess > 0;
}

/** Holdings that the node can release, and those that it must release. */
function proposedReleases(
  releases: Releases,
  facts: ReleasableFacts,
  { policy, traits, mayDecide, blocked, refused, podUse }: ReleaseRules,
): readonly Holding[] {
  const { node } = facts;
  if (!isToLeave(facts, policy)) return [];
  if (isForeignAgent(node, traits) || !reportsUse(node) || !mayDecide) return [];
  const isUsed = usageIn(node, facts, podUse);
  const isShown = shownTo(node);
  // A multi-pool agent has not dropped an address that it cannot see.
  const isTaken = (address: string): boolean =>
    isUsed(address) || (protocolOf(node) === 'multi-pool' && !isShown(address));
  const asked = { ...facts, isUsed: isTaken, releases, blocked };
  const retiring = retiredCandidates(asked);
  if (!isExcessive(facts, policy)) return retiring;
  return [...retiring, ...releaseCandidates({ ...asked, blocked: new Set([...blocked, ...refused]) })];
}

/**
 * Holdings that the node needs again, as an address that is still assigned is the cheapest, and those that the cloud refuses.
 * Where a change is of the whole instance, nothing that a write may still hide: until then, no change may begin.
 */
function reclaimedReleases(
  releases: Releases,
  { view, requirements, wanted, lastWrite }: ReleasableFacts,
  { policy, traits, refused, now }: ReleaseRules & { readonly now: number },
): ReadonlySet<string> {
  const reclaimed = new Set<string>();
  const mustGo = isUnfit(view, requirements);
  const mayBeHidden = traits.change === 'perInstance' && now < lastWrite.openUntil;
  let left = policy.enabled ? wanted : Infinity;
  for (const [id, { holding, phase }] of releases) {
    const isReclaimable = phase.kind === 'hidden' || (phase.kind === 'leaving' && !mayBeHidden);
    if (!isReclaimable || mustGo(holding)) continue;
    if (left <= 0 && !refused.has(id)) continue;
    reclaimed.add(id);
    left -= holding.addresses.length;
  }
  return reclaimed;
}

/** Whether the holding may be taken from the instance, or off the offer, now. */
export function isDue(release: Release, times: Times & { readonly now: number }): boolean {
  return release.phase.kind === 'unanswered' || times.now >= (hiddenUntil(release, times) ?? Infinity);
}

/** When each release may take its next step without a new fact, in monotonic ms; some times may have passed. */
export function stepTimes(releases: Releases, times: Times): readonly number[] {
  return [...releases.values()].flatMap((release) => {
    const { protocol, phase } = release;
    if (phase.kind === 'unassigning') return phase.openUntil ?? [];
    if (phase.kind !== 'excess') return hiddenUntil(release, times) ?? [];
    return Math.max(phase.since + delayFor(protocol, times.policy), mayHideAt(protocol, releases, times));
  });
}

/** A multi-pool agent may have taken up an address that it has not reported yet. */
function delayFor(protocol: AgentProtocol, { delay, hiddenFor }: ReleasePolicy): number {
  return protocol === 'crd' ? delay : Math.max(delay, hiddenFor);
}

/**
 * Our write makes a concurrent write of a multi-pool agent fail with 409. Hiding restarts the quarantine of
 * everything already hidden. So the next batch waits until the current one is gone.
 */
function mayHideAt(protocol: AgentProtocol, releases: Releases, times: Times): number {
  if (protocol === 'crd') return -Infinity;
  return isHiding(releases) ? Infinity : useReportedAt(times);
}

/** From then on a multi-pool agent has had the time to report what it uses. In monotonic ms. */
function useReportedAt({ policy, lastWrite }: Times): number {
  return lastWrite.at + policy.hiddenFor;
}

function hiddenUntil({ protocol, phase }: Release, times: Times): number | undefined {
  if (phase.kind !== 'hidden') return undefined;
  if (protocol === 'crd') return phase.since;
  return Math.max(phase.since + times.policy.hiddenFor, useReportedAt(times));
}
