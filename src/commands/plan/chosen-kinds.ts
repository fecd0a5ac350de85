// Chooses the nodes that a plan adds: like those that are there, in the zones and of the type that are asked for. Pure.
import type { NodeKind, PlanningReport } from '../../controller/reporting/planning-report.ts';
import { maximumAllocatable } from '../../node/demand/capacity.ts';
import type { InstanceLimits } from '../../providers/contract/facts.ts';
import { nearest } from '../../runtime/did-you-mean.ts';
import type { NodeToAdd } from './added-node.ts';

export interface PlanQuestion {
  readonly add: number;
  /** Undefined: that of the nodes that are there. */
  readonly type: string | undefined;
  /** Empty: those in which there are nodes. */
  readonly zones: readonly string[];
  /** The subnet that the new instances are in; undefined: that of the nodes that are there. */
  readonly subnet: string | undefined;
  /** Pods of each node that need an address; undefined: as many as it can hold. */
  readonly pods: number | undefined;
  readonly agentAddresses: number;
  /** Addresses that each node keeps free; undefined: as the nodes that are there. */
  readonly preAllocate: number | undefined;
  /** Pool of blocks that agents ask; undefined: their default. */
  readonly pool: string | undefined;
}

/** Nodes of one zone that are all alike. */
export interface ChosenKind {
  readonly zone: string;
  readonly node: NodeToAdd;
  /** The kind that it follows. */
  readonly like: NodeKind;
}

type Chosen = { readonly kinds: readonly ChosenKind[] } | { readonly problem: string };

/** `otherLimits`: of the type that is asked for, if none of the nodes has it, or why they are not known. */
export function chooseKinds(
  question: PlanQuestion,
  { kinds }: Pick<PlanningReport, 'kinds'>,
  otherLimits?: InstanceLimits | string,
): Chosen {
  const [first] = kinds;
  if (first === undefined)
    return { problem: 'no node is served yet, and new ones are planned like those that are there' };
  const known = limitsFor(question.type, kinds) ?? otherLimits;
  const limits = typeof known === 'string' ? undefined : known;
  if (question.type !== undefined && limits === undefined) {
    const why = typeof known === 'string' ? `; what it can hold is not known: ${known}` : '';
    return { problem: `${unknown('type', question.type, [...new Set(kinds.map(typeOf))])}${why}` };
  }
  const ofSubnet = inSubnet(question.subnet, kinds);
  if (typeof ofSubnet === 'string') return { problem: ofSubnet };
  const zones = zonesFor(question, ofSubnet);
  if (typeof zones === 'string') return { problem: zones };
  return {
    kinds: zones.map((zone) => {
      const alike = ofSubnet.filter((kind) => zoneOf(kind) === zone);
      const like = alike.find((kind) => typeOf(kind) === question.type) ?? alike[0] ?? first;
      return { zone, like, node: nodeLike(like, question, limits) };
    }),
  };
}

function typeOf({ requirements }: NodeKind): string {
  return requirements.instanceType;
}

function zoneOf({ requirements }: NodeKind): string {
  return requirements.zone;
}

function limitsFor(type: string | undefined, kinds: readonly NodeKind[]): InstanceLimits | undefined {
  const isTyped = kinds.some((kind) => typeOf(kind) !== '');
  return isTyped ? kinds.find((kind) => typeOf(kind) === type)?.limits : kinds[0]?.limits;
}

/** Whether only the cloud can say what the type holds. */
export function isUnknownType(type: string | undefined, kinds: readonly NodeKind[]): type is string {
  return type !== undefined && kinds.length > 0 && limitsFor(type, kinds) === undefined;
}

function inSubnet(id: string | undefined, kinds: readonly NodeKind[]): readonly NodeKind[] | string {
  if (id === undefined) return kinds;
  const found = kinds.filter((kind) => subnetOf(kind) === id);
  return found.length > 0 ? found : unknown('subnet', id, [...new Set(kinds.map(subnetOf))]);
}

/** The subnet of the instance itself. */
export function subnetOf({ given, requirements }: NodeKind): string {
  return requirements.nodeSubnetId || (given[0]?.subnet ?? '');
}

function zonesFor({ zones, type }: PlanQuestion, kinds: readonly NodeKind[]): readonly string[] | string {
  const all = [...new Set(kinds.map(zoneOf))];
  const ofType = kinds.filter((kind) => typeOf(kind) === type);
  if (zones.length === 0) return [...new Set((ofType.length > 0 ? ofType : kinds).map(zoneOf))].sort();
  if (all.every((zone) => zone === ''))
    return 'the nodes of this cloud are in no zone that decides what they get: leave out --zone';
  const found: string[] = [];
  for (const given of zones) {
    const zone = zoneNamed(given, all);
    if (zone === undefined) return unknown('zone', given, all);
    if (!found.includes(zone)) found.push(zone);
  }
  return found;
}

/** A zone by its name, or by the end of it that no other has: `b`. */
function zoneNamed(given: string, zones: readonly string[]): string | undefined {
  if (zones.includes(given)) return given;
  const ending = zones.filter((zone) => zone.endsWith(given));
  return ending.length === 1 ? ending[0] : undefined;
}

function unknown(what: string, given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  const names = known.slice(0, 8).join(', ');
  const others = meant === undefined ? `; there are nodes with ${names}` : `; did you mean ${meant}?`;
  return `no node has the ${what} ${JSON.stringify(given)}${others}`;
}

/** More than any node has. */
const maxPods = 10_000;

function nodeLike(like: NodeKind, question: PlanQuestion, limits: InstanceLimits | undefined): NodeToAdd {
  const { watermarks, ipv6, given } = like;
  const type = question.type ?? like.requirements.instanceType;
  const isTyped = like.requirements.instanceType !== '';
  const requirements = isTyped ? { ...like.requirements, instanceType: type } : like.requirements;
  const own = isTyped && question.type !== undefined ? (limits ?? like.limits) : like.limits;
  const { agentAddresses } = question;
  const pods =
    question.pods ?? Math.min(maxPods, Math.max(0, maximumAllocatable(own, requirements) - agentAddresses));
  const { preAllocate = watermarks.preAllocate } = question;
  const marks = { ...watermarks, preAllocate };
  return { requirements, watermarks: marks, limits: own, ipv6, given, pods, agentAddresses };
}
