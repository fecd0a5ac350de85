// Facts in /status for plans of nodes that do not exist yet: the kinds of nodes that are served, and what of the network and
// the cloud decides what another one gets.
import type { NodeFigures, NodeSummary } from '../../node/reconcile/node-summary.ts';
import { maxAllocatable } from '../../node/demand/capacity.ts';
import { exclusionOf, type NodeRequirements, sparedOn } from '../../node/demand/node-requirements.ts';
import type { Watermarks } from '../../node/demand/statistics.ts';
import type { AllocationImplementation, CloudTraits } from '../../providers/contract/cloud.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { InstanceLimits, InstanceView } from '../../providers/contract/facts.ts';
import type { Infrastructure, SecurityGroup } from '../../providers/contract/infrastructure.ts';
import type { NetworkInterface, Tags } from '../../providers/contract/network-interface.ts';

export interface PlanningReport {
  /** The mode of the agents, which names the cloud. */
  readonly ipam: string;
  /** Whether Headwater makes interfaces, or an instance is given them. */
  readonly interfaces: CloudTraits['interfaces'];
  readonly change: CloudTraits['change'];
  /** The most addresses of one call; absent without a limit. */
  readonly maxPerCall?: number;
  /** Kinds of nodes, the most frequent first. */
  readonly kinds: readonly NodeKind[];
  /** Explicit associations of route tables with subnets. */
  readonly routeTables: readonly { readonly network: string; readonly subnets: readonly string[] }[];
  /** Networks whose route tables the cloud does not let us read, and its answer. */
  readonly unreadRouteTables?: Readonly<Record<string, DeniedRead>>;
  /** Security groups that carry tags by which nodes choose them. */
  readonly securityGroups: readonly SecurityGroup[];
  /** By subnet, its tags with the keys by which nodes choose subnets. */
  readonly subnetTags: Readonly<Record<string, Tags>>;
  /** The cloud's terms, for what would be wrong with a node. */
  readonly words: PlanningWords;
}

type DeniedRead = Pick<CloudFailure, 'action' | 'code' | 'message' | 'permission'>;

type PlanningWords = Pick<CloudWords, 'fields' | 'remedies'>;

/** Nodes that ask for the same in the same place. */
export interface NodeKind {
  readonly nodes: number;
  /** The name of one of them. */
  readonly example: string;
  readonly requirements: NodeRequirements;
  /** `maxAllocate` is 0 where only the instance limits it. */
  readonly watermarks: Watermarks;
  readonly limits: InstanceLimits;
  readonly ipv6: boolean;
  /** Interfaces of an instance of it before Headwater changes anything. */
  readonly given: readonly GivenInterface[];
  /** For each operation, the limits that it spends from, by the names of `buckets`. */
  readonly calls: Readonly<Partial<Record<PlannedOperation, readonly string[]>>>;
}

export interface GivenInterface {
  readonly subnet: string;
  readonly deviceIndex: number;
  readonly name?: string;
  /** Addresses that others made on it. */
  readonly ofOthers: number;
  /** Whether it has a security group. */
  readonly secured: boolean;
}

const plannedOperations = [
  'createInterface',
  'attachInterface',
  'allocateIPs',
  'allocatePrefixes',
  'allocateIpv6Prefix',
] as const;

type PlannedOperation = (typeof plannedOperations)[number];

export interface PlanningSources {
  readonly ipam: string;
  readonly infrastructure: Infrastructure;
  readonly implementation: Pick<AllocationImplementation, 'traits' | 'limitsOf' | 'section'>;
}

/** Kinds that are reported: those of the most nodes. */
const maxKinds = 100;

export function planningReport(
  summaries: readonly NodeSummary[],
  { ipam, infrastructure, implementation }: PlanningSources,
): PlanningReport {
  const { interfaces, change, maxPerCall } = implementation.traits;
  const { words } = implementation.section;
  const kinds = kindsOf(summaries, implementation).slice(0, maxKinds);
  const unread = [...(infrastructure.denied?.routeTables ?? [])];
  return {
    ipam,
    interfaces,
    change,
    ...(maxPerCall < Infinity && { maxPerCall }),
    kinds,
    routeTables: infrastructure.routeTables
      .filter(({ subnetIds }) => subnetIds.length > 0)
      .map(({ networkId: network, subnetIds: subnets }) => ({ network, subnets })),
    ...(unread.length > 0 && { unreadRouteTables: Object.fromEntries(unread.map(deniedRead)) }),
    ...taggedIn(infrastructure, kinds),
    words: { fields: words.fields, remedies: words.remedies },
  };
}

function deniedRead([networkId, failure]: readonly [string, CloudFailure]): [string, DeniedRead] {
  const { action, code, message, permission } = failure;
  return [networkId, { action, code, message, ...(permission !== undefined && { permission }) }];
}

function taggedIn(
  { subnets, securityGroups }: Infrastructure,
  kinds: readonly NodeKind[],
): Pick<PlanningReport, 'securityGroups' | 'subnetTags'> {
  const ofSubnets = keysOf(kinds.map(({ requirements }) => requirements.subnetTags));
  const ofGroups = keysOf(kinds.map(({ requirements }) => requirements.securityGroupTags));
  const tagged = [...subnets.values()].map(({ id, tags }) => [id, onlyKeys(tags, ofSubnets)] as const);
  return {
    securityGroups: securityGroups
      .map((group) => ({ ...group, tags: onlyKeys(group.tags, ofGroups) }))
      .filter(({ tags }) => Object.keys(tags).length > 0),
    subnetTags: Object.fromEntries(tagged.filter(([, tags]) => Object.keys(tags).length > 0)),
  };
}

function keysOf(all: readonly Tags[]): ReadonlySet<string> {
  return new Set(all.flatMap((tags) => Object.keys(tags)));
}

function onlyKeys(tags: Tags, keys: ReadonlySet<string>): Tags {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => keys.has(key)));
}

function kindsOf(
  summaries: readonly NodeSummary[],
  implementation: PlanningSources['implementation'],
): readonly NodeKind[] {
  const kinds = new Map<string, NodeKind>();
  for (const entry of summaries) {
    const figures = entry.kind === 'reconciled' ? entry.figures : undefined;
    const same = figures && sameOf(figures, implementation.traits);
    if (figures?.view === undefined || same === undefined) continue;
    const key = JSON.stringify(same);
    const known = kinds.get(key) ?? {
      ...same,
      nodes: 0,
      example: entry.name,
      calls: callsOf(figures.view.id, implementation),
    };
    kinds.set(key, { ...known, nodes: known.nodes + 1 });
  }
  return [...kinds.values()].toSorted((a, b) => b.nodes - a.nodes);
}

function callsOf(
  instanceId: string,
  { limitsOf }: Pick<AllocationImplementation, 'limitsOf'>,
): NodeKind['calls'] {
  const calls = plannedOperations.map((kind) => [kind, limitsOf([kind], instanceId)] as const);
  return Object.fromEntries(calls.filter(([, names]) => names.length > 0));
}

/** Facts that nodes of a kind have in common; undefined for a node that is not served. */
function sameOf(
  { assessment, view }: NodeFigures,
  traits: CloudTraits,
): Omit<NodeKind, 'nodes' | 'example' | 'calls'> | undefined {
  if (assessment.kind !== 'served' || view === undefined) return undefined;
  const { requirements, limits, marks, ipv6, retiredInUse } = assessment;
  const ofInstance = maxAllocatable(limits, view, requirements) + retiredInUse;
  return {
    requirements,
    watermarks: { ...marks, maxAllocate: marks.maxAllocate === ofInstance ? 0 : marks.maxAllocate },
    limits,
    ipv6: ipv6 !== 'notAsked',
    given: givenTo(view, requirements, traits.interfaces),
  };
}

/** Where Headwater makes interfaces, an instance starts with its primary one, without anything else. */
function givenTo(
  { interfaces }: InstanceView,
  requirements: NodeRequirements,
  by: CloudTraits['interfaces'],
): readonly GivenInterface[] {
  return interfaces
    .filter((item) => by === 'given' || item.attachment?.deviceIndex === 0)
    .map((item) => givenBy(item, requirements, by));
}

function givenBy(
  item: NetworkInterface,
  requirements: NodeRequirements,
  by: CloudTraits['interfaces'],
): GivenInterface {
  const { subnetId: subnet, name, attachment, securityGroupIds, reservedFor } = item;
  const isOfPods = reservedFor === undefined && exclusionOf(item, requirements) === undefined;
  return {
    subnet,
    deviceIndex: attachment?.deviceIndex ?? 0,
    ...(name !== undefined && { name }),
    ofOthers: by === 'given' && isOfPods ? sparedOn(item, requirements).length : 0,
    secured: securityGroupIds.length > 0,
  };
}
