// Reads what the command check needs of the cloud, through the client of the controller and within its rate limits. It changes
// nothing.
import { onlyNetwork } from '../../config/clouds/cloud-descriptor.ts';
import { cloudSettings } from '../../config/clouds/clouds.ts';
import type { Options } from '../../config/option-table.ts';
import type { Cloud } from '../../controller/clouds/cloud.ts';
import { remedyFor } from '../../node/conditions/call-condition.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import { type AskedRequirements, requirementsOf } from '../../node/demand/node-requirements.ts';
import type { CallContext } from '../../providers/contract/cloud.ts';
import { CloudError, type CloudFailure } from '../../providers/contract/cloud-failure.ts';
import type { InstanceLimits, Observation, UnreadableLimits } from '../../providers/contract/facts.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
  type SubnetReservation,
  withNews,
} from '../../providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../providers/contract/network-interface.ts';
import { instanceTag } from '../../providers/orphans/ownership-tags.ts';
import type { RehearsedNodes, Rehearsals } from '../../providers/contract/rehearsal.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';

/** The answer of a read, or why there is none. */
export type CloudRead<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: CloudFailure; readonly remedy: string | undefined }
  /** Nothing names what to read. */
  | { readonly kind: 'nothingToRead' };

export function valueOfRead<T>(read: CloudRead<T>, otherwise: T): T {
  return read.kind === 'read' ? read.value : otherwise;
}

/** Interfaces by instance; an instance whose interfaces were not shown has none. */
export function interfacesIn(
  observations: readonly Observation[],
): ReadonlyMap<string, readonly NetworkInterface[]> {
  const interfaces = observations.flatMap((each) => (each.kind === 'interface' ? [each.interface] : []));
  const attached = interfaces.filter(({ attachment }) => attachment?.state === 'attached');
  return Map.groupBy(attached, ({ attachment }) => attachment?.instanceId ?? '');
}

/** A node, with what it asks of its interfaces. */
export interface AskingNode {
  readonly name: string;
  readonly instanceId: string;
  readonly requirements: AskedRequirements;
  readonly object: Pick<CiliumNode, 'ipam' | 'status'>;
}

export interface ReadCloud {
  /** Where requests go, for people. */
  readonly place: string;
  /** Whether it answers at all. */
  readonly reached: CloudRead<true>;
  readonly infrastructure: CloudRead<Infrastructure>;
  /** Some instances of the cluster, so that no fleet is too large. */
  readonly instances: CloudRead<readonly Observation[]>;
  /** Interfaces with the tags of this cluster that no instance has. */
  readonly detached: CloudRead<readonly NetworkInterface[]>;
  /** Instances outside the cluster that run, and that some of these interfaces were made for. */
  readonly others: CloudRead<readonly string[]>;
  /** By type. */
  readonly limits: CloudRead<ReadonlyMap<string, InstanceLimits | UnreadableLimits>>;
}

/** The nodes, and what is known of the cloud around them. */
export interface CloudAround {
  readonly nodes: readonly AskingNode[];
  readonly infrastructure: Infrastructure;
  /** By instance, as far as they were read. */
  readonly interfaces: ReadonlyMap<string, readonly NetworkInterface[]>;
  /** By type. */
  readonly limits: ReadonlyMap<string, InstanceLimits | UnreadableLimits>;
  readonly words: CloudWords;
}

export interface ReadReservations {
  /** By subnet. */
  readonly read: ReadonlyMap<string, CloudRead<readonly SubnetReservation[]>>;
  /** Subnets that were left out. */
  readonly unasked: readonly string[];
}

/** The instances that are read. Where they are given their interfaces, each takes calls of its own. */
const maxInstances = { made: 10, given: 3 } as const;

/** Subnets whose reservations are read: each takes a call. */
const maxReservationReads = 3;

export class CloudReader {
  readonly #cloud: Cloud;
  readonly #options: Options;
  readonly #context: CallContext;

  constructor(cloud: Cloud, options: Options, signal: AbortSignal) {
    this.#cloud = cloud;
    this.#options = options;
    this.#context = { caller: { priority: 'normal' }, signal };
  }

  /** Nodes whose CiliumNode says enough to be served. */
  askingNodes(nodes: readonly CiliumNode[]): readonly AskingNode[] {
    const { scope, ...settings } = cloudSettings(this.#options);
    const othersInterfaceTags = this.#options.excludeInterfaceTags;
    const defaults = { ...settings, othersInterfaceTags, podNetworkId: scope.podNetworkId };
    return nodes.flatMap((object) => {
      const { name, instanceId, section } = object;
      const read = requirementsOf(section, defaults);
      if (instanceId === undefined || 'missing' in read) return [];
      return [{ name, instanceId, requirements: read.requirements, object }];
    });
  }

  /**
   * `known`: instances that Nodes and CiliumNodes name. `first`: names of nodes whose instances are read before those of others.
   */
  async read(
    nodes: readonly AskingNode[],
    known: ReadonlySet<string>,
    first: ReadonlySet<string>,
  ): Promise<ReadCloud> {
    const { scope } = await this.#cloud.describe();
    const { implementation } = this.#cloud;
    // A network that can be read shows that the cloud answers.
    const network = await this.#networks(nodes);
    const reached =
      network.kind === 'read' ? { kind: 'read' as const, value: true as const } : await this.#reach();
    const nothing = { kind: 'nothingToRead' } as const;
    const unread = { infrastructure: nothing, instances: nothing, limits: nothing, detached: nothing };
    if (reached.kind === 'failed') return { place: scope, reached, ...unread, others: nothing };
    const all = [...new Set(nodes.map(({ instanceId }) => instanceId))];
    const preferred = new Set(nodes.flatMap(({ name, instanceId }) => (first.has(name) ? [instanceId] : [])));
    const ids = sample(all, preferred, maxInstances[implementation.traits.interfaces]);
    const types = [...new Set(nodes.map(({ requirements }) => requirements.instanceType))].filter(Boolean);
    const [observed, limits, detached] = await Promise.all([
      ids.length === 0 ? nothing : answerOf(() => this.#observe(ids)),
      types.length === 0 || implementation.traits.limits !== 'byType'
        ? nothing
        : answerOf(() => implementation.readLimits(types, this.#context)),
      this.#detached(),
    ]);
    const others = await this.#others(valueOfRead(detached, []), new Set([...known, ...all]));
    const read = { place: scope, reached, limits, detached, others };
    if (observed.kind !== 'read') return { ...read, infrastructure: network, instances: observed };
    const { observations, infrastructure } = observed.value;
    // Some clouds show subnets only with the interfaces in them.
    const merged =
      network.kind !== 'nothingToRead'
        ? network
        : infrastructure.subnets.size > 0
          ? { kind: 'read' as const, value: infrastructure }
          : await this.#networksOf(observations);
    return { ...read, infrastructure: merged, instances: { kind: 'read', value: observations } };
  }

  /** Changes that the cloud would permit; undefined where it has no such question. */
  async rehearse(nodes: RehearsedNodes): Promise<Rehearsals | undefined> {
    return this.#cloud.implementation.rehearse?.(nodes, this.#context);
  }

  /** Reservations in some of these subnets; undefined where the cloud has no reservations. */
  async readReservations(subnetIds: readonly string[]): Promise<ReadReservations | undefined> {
    const { implementation } = this.#cloud;
    if (implementation.readReservations === undefined) return undefined;
    const asked = subnetIds.slice(0, maxReservationReads);
    const answers = await Promise.all(
      asked.map((id) =>
        answerOf(async () => (await implementation.readReservations?.(id, this.#context)) ?? []),
      ),
    );
    return {
      read: new Map(asked.map((id, at) => [id, answers[at] ?? { kind: 'nothingToRead' }])),
      unasked: subnetIds.slice(asked.length),
    };
  }

  #reach(): Promise<CloudRead<true>> {
    return answerOf(async () => {
      await this.#cloud.implementation.reach(this.#context);
      return true as const;
    });
  }

  async #detached(): Promise<ReadCloud['detached']> {
    const { implementation, belongingTags: tags } = this.#cloud;
    const networkId = onlyNetwork(cloudSettings(this.#options).scope);
    if (implementation.traits.interfaces === 'given' || Object.keys(tags).length === 0)
      return { kind: 'nothingToRead' };
    return answerOf(async () => {
      const { interfaces } = await implementation.readDetached({ tags, networkId }, this.#context);
      return interfaces;
    });
  }

  /** An interface keeps the tag of the instance that it was made for. */
  async #others(
    detached: readonly NetworkInterface[],
    own: ReadonlySet<string>,
  ): Promise<ReadCloud['others']> {
    const named = detached.flatMap(({ tags }) => tags[instanceTag] ?? []);
    const ids = [...new Set(named)].filter((id) => !own.has(id)).slice(0, maxInstances.made);
    if (ids.length === 0) return { kind: 'nothingToRead' };
    return answerOf(async () => {
      const { observations } = await this.#observe(ids);
      const running = observations.filter(
        (each) => each.kind === 'interface' && each.interface.attachment?.state === 'attached',
      );
      const shown = new Set(interfacesIn(running).keys());
      return ids.filter((id) => shown.has(id));
    });
  }

  /** Says why the instances came without a subnet. */
  #networksOf(observations: readonly Observation[]): Promise<CloudRead<Infrastructure>> {
    const interfaces = [...interfacesIn(observations).values()].flat();
    return this.#infrastructure(
      interfaces.map(({ networkId }) => networkId),
      [],
    );
  }

  #networks(nodes: readonly AskingNode[]): Promise<CloudRead<Infrastructure>> {
    const { networkId } = cloudSettings(this.#options).scope;
    const named = nodes.map(({ requirements }) => requirements.networkId);
    const networks = (networkId === undefined ? named : [networkId]).filter((id) => id !== undefined);
    const zones = [...new Set(nodes.map(({ requirements }) => requirements.zone))].filter(Boolean);
    return this.#infrastructure(networks, zones);
  }

  /** With the network of pods. */
  async #infrastructure(
    networks: readonly string[],
    zones: readonly string[],
  ): Promise<CloudRead<Infrastructure>> {
    if (networks.length === 0) return { kind: 'nothingToRead' };
    const { podNetworkId } = cloudSettings(this.#options).scope;
    const all = [...new Set(networks.concat(podNetworkId ?? []))];
    return answerOf(async () => {
      const { implementation } = this.#cloud;
      return (await implementation.readInfrastructure(all, this.#context, zones)).infrastructure;
    });
  }

  async #observe(
    instanceIds: readonly string[],
  ): Promise<{ readonly observations: readonly Observation[]; readonly infrastructure: Infrastructure }> {
    const observations: Observation[] = [];
    let infrastructure = emptyInfrastructure;
    const { implementation } = this.#cloud;
    for await (const page of implementation.observe({ kind: 'instances', instanceIds }, this.#context)) {
      observations.push(...page.observations);
      if (page.network !== undefined) infrastructure = withNews(infrastructure, page.network);
      const [failed] = page.failed ?? [];
      if (failed !== undefined) throw failed.error;
    }
    return { observations, infrastructure };
  }
}

/** At most `max` of them: those that are preferred, and of the others some. */
function sample(ids: readonly string[], preferred: ReadonlySet<string>, max: number): readonly string[] {
  const chosen = [...preferred].slice(0, max);
  const others = ids.filter((id) => !preferred.has(id));
  return [...chosen, ...spread(others, max - chosen.length)];
}

/** At most `max` of them, from all over: their ids sort by what they belong to. */
export function spread(ids: readonly string[], max: number): readonly string[] {
  const step = Math.max(1, ids.length / max);
  const sorted = ids.toSorted();
  return Array.from({ length: Math.min(max, ids.length) }, (_, at) => sorted[Math.floor(at * step)] ?? '');
}

/** Rejects with what is a bug. */
export async function answerOf<T>(ask: () => Promise<T>): Promise<CloudRead<T>> {
  try {
    return { kind: 'read', value: await ask() };
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    return { kind: 'failed', failure: error.failure, remedy: remedyFor(error.failure) };
  }
}
