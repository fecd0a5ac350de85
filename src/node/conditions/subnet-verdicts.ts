// Says of each subnet of a node's network whether the node may take addresses from it now, and why not. Pure.
import type { Subnet } from '../../providers/contract/infrastructure.ts';
import type { AllocationFacts, CallRules } from '../allocate/allocation-facts.ts';
import { type RuledSubnets, subnetsByRule } from '../allocate/subnet-choice.ts';
import type { KnownInstance } from '../demand/capacity.ts';
import type { NodeRequirements } from '../demand/node-requirements.ts';
import { refusalCondition } from './call-condition.ts';
import type { RefusedSubnets } from './plan-condition.ts';

export interface SubnetVerdict {
  readonly id: string;
  readonly name?: string;
  readonly zone: string;
  /** Addresses that may still be requested. */
  readonly free: number;
  readonly isEligible: boolean;
  /** Why it is not eligible. */
  readonly why?: string;
}

export interface SubnetSelection {
  /** The rule that decides, in words. */
  readonly rule: string;
  /** Eligible ones first. */
  readonly subnets: readonly SubnetVerdict[];
}

export type SelectionFacts = KnownInstance &
  Pick<AllocationFacts, 'network'> &
  Pick<CallRules, 'refusalOf' | 'traits'> & { readonly refused: RefusedSubnets };

/** Addresses of the smallest interface that serves pods: its primary one and another. */
const smallest = 2;

export function subnetSelection(facts: SelectionFacts): SubnetSelection {
  const { network, requirements, traits, view } = facts;
  const isMade = traits.interfaces === 'made';
  const ruled = isMade ? rulingOf(facts) : undefined;
  const ofInterfaces = new Set(view.interfaces.map(({ subnetId }) => subnetId));
  const subnets = [...network.infrastructure.subnets.values()]
    .filter(({ id, networkId }) => (isMade ? networkId === requirements.networkId : ofInterfaces.has(id)))
    .map((subnet) => verdictOn(subnet, ruled, facts));
  return {
    rule: ruled === undefined ? 'the subnets of its interfaces' : ruleInWords(ruled, facts),
    subnets: subnets.toSorted((a, b) => Number(b.isEligible) - Number(a.isEligible) || b.free - a.free),
  };
}

function rulingOf({ requirements, network, limits }: SelectionFacts): RuledSubnets {
  const { addressesPerInterface: fullInterface } = limits;
  return subnetsByRule(requirements, { ...network, fullInterface, minUseful: smallest });
}

function ruleInWords({ rule }: RuledSubnets, { requirements }: SelectionFacts): string {
  switch (rule) {
    case 'ids':
      return `those with the ids that the node names: ${requirements.subnetIds.join(', ')}`;
    case 'tags':
      return `those with the tags that the node names: ${tagsInWords(requirements.subnetTags)}`;
    case 'ownSubnet':
      return "the node's own subnet, which has room for an interface";
    case 'routes':
      return "the node's own subnet, and those with the same routes";
    case 'zone':
      return `every subnet in ${requirements.zone}`;
  }
}

function tagsInWords(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

function verdictOn(subnet: Subnet, ruled: RuledSubnets | undefined, facts: SelectionFacts): SubnetVerdict {
  const { id, name, zone } = subnet;
  const why = whyNotSelected(subnet, ruled, facts) ?? whyWithoutRoom(id, ruled !== undefined, facts);
  const verdict = {
    id,
    ...(name !== undefined && { name }),
    zone,
    free: facts.network.free(id),
    isEligible: why === undefined,
  };
  return why === undefined ? verdict : { ...verdict, why };
}

function whyNotSelected(
  subnet: Subnet,
  ruled: RuledSubnets | undefined,
  { requirements, network }: SelectionFacts,
): string | undefined {
  const { id, zone, eligible } = subnet;
  const unread = network.infrastructure.unreadSubnets?.get(id);
  if (unread !== undefined) return `it cannot be read: ${unread.message}`;
  const hidden = whyTagsAreHidden(id, network);
  if (!eligible) return hidden ?? "Headwater's subnet filters exclude it, or the cloud no longer shows it";
  if (ruled === undefined) return undefined;
  if (zone !== requirements.zone) return `it is in ${zone}, and the node in ${requirements.zone}`;
  const isCandidate = ruled.candidates.some((candidate) => candidate.id === id);
  return isCandidate ? undefined : whyNotByRule(ruled, requirements, hidden);
}

/** Undefined if the tags of the subnet are known. */
function whyTagsAreHidden(id: string, { infrastructure }: SelectionFacts['network']): string | undefined {
  const unread = infrastructure.unreadTags?.get(id);
  return unread && `its tags cannot be read: ${unread.message}`;
}

function whyNotByRule(
  { rule }: RuledSubnets,
  { subnetTags }: NodeRequirements,
  hidden: string | undefined,
): string {
  switch (rule) {
    case 'ids':
      return 'the node names other ids';
    case 'tags':
      return hidden ?? `it lacks the tags ${tagsInWords(subnetTags)}`;
    case 'ownSubnet':
      return "the node's own subnet has room and comes first";
    case 'routes':
    case 'zone':
      return "its routes are not those of the node's own subnet";
  }
}

function whyWithoutRoom(
  id: string,
  isForNew: boolean,
  { network, refused, refusalOf, requirements }: SelectionFacts,
): string | undefined {
  const { ledger, now } = refused;
  if (ledger.isGone(id, now)) return 'the cloud says that it does not exist';
  if (ledger.countedThoughFull(id, now) > 0)
    return 'the cloud calls it full, although it counts free addresses there';
  const left = network.free(id);
  if (left === 0) return 'no address is left in it';
  if (!isForNew) return undefined;
  if (left < smallest) return `an interface takes ${smallest} addresses, and it has ${left}`;
  const { nodeSubnetId } = requirements;
  const refusal =
    refusalOf({ kind: 'subnet', subnetId: id }) ??
    refusalOf({ kind: 'attachment', subnetId: id, nodeSubnetId });
  return refusal && refusalCondition(refusal).message;
}
