// Reads the cluster and the cloud, and hands what was read to the functions that judge it.
import { cloudOf, cloudSettings, isCloudMode } from '../../config/clouds/clouds.ts';
import type { Options } from '../../config/option-table.ts';
import { type CiliumNodeReading, readCiliumNode } from '../../kubernetes/cilium-node/cilium-node-reader.ts';
import { isIgnored, readIdentity } from '../../kubernetes/object-identity.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { internalAddresses } from '../../kubernetes/watch/cluster-nodes.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import type { Clock } from '../../runtime/clock.ts';
import { accessScope } from '../../controller/host.ts';
import type { Cloud } from '../../controller/clouds/cloud.ts';
import { type OpenedCloud, problemWithCloud } from '../cloud-access.ts';
import { addressFindings, confirmedNodes, wholeInstances } from './address-findings.ts';
import { blockFindings } from './block-findings.ts';
import { blockedNodes } from './blocked-nodes.ts';
import { capacityFindings } from './capacity-findings.ts';
import {
  type AskingNode,
  CloudReader,
  interfacesIn,
  type ReadCloud,
  spread,
  valueOfRead,
} from './cloud-facts.ts';
import { cloudFindings, failuresIn, orphanFindings } from './cloud-findings.ts';
import { accessFindings, missingFields, schemaFinding, versionFinding } from './cluster-findings.ts';
import { type ReadCluster, ClusterReader } from './cluster-facts.ts';
import { type Fact, known, mapped, unknown, valueOf } from './fact.ts';
import { type Finding, rowsAbout } from './finding.ts';
import { namedCluster } from './name-findings.ts';
import { objectFindings, unservedFindings } from './object-findings.ts';
import { podNetworkFindings } from './pod-network-findings.ts';
import { portFindings, type PortQuestion } from './port-findings.ts';
import { rehearsalFindings, rehearsedNodes, unrehearsed } from './permission-findings.ts';
import {
  agentFindings,
  allocatorFindings,
  blockOperatorFindings,
  operatorAbsenceFindings,
  operatorFindings,
  operatorLabels,
} from './program-findings.ts';
import { type CiliumConfig, ciliumConfigFindings } from './settings-findings.ts';
import { reservationFindings } from './reservation-findings.ts';
import { scoped } from './scope-findings.ts';
import { selectionFindings } from './selection-findings.ts';
import { shownBlockNode, shownCiliumNode, type ShownNode, shownNode } from './shown-objects.ts';
import { givenSubnetFindings, subnetFindings, tightSubnets } from './subnet-findings.ts';
import type { Machine } from './this-machine.ts';
import { nodesThatWait, untakenFindings } from './untaken-findings.ts';
import { writerFindings } from './writer-findings.ts';

export interface ReachedCluster {
  /** Its address, for people. */
  readonly server: string;
  readonly transport: KubernetesTransport;
  /** Whether the permissions of the account that asks are those of the controller. */
  readonly asksAsController: boolean;
}

export interface Examined {
  readonly options: Options;
  readonly cluster: Fact<ReachedCluster>;
  readonly clock: Clock;
  readonly machine: Machine;
  /** Throws NotStartable, or a CloudError. */
  readonly openCloud: () => Promise<OpenedCloud>;
}

export async function examine(examined: Examined, signal: AbortSignal): Promise<readonly Finding[]> {
  const { options, clock } = examined;
  if (!isCloudMode(options.ipam)) {
    const { findings, answers } = await examineCluster(examined, signal);
    return answers === undefined
      ? findings
      : [...findings, ...(await examineBlocks(answers, options, clock.wall()))];
  }
  const opened = await opening(examined);
  if (opened.kind === 'unknown') {
    const { findings } = await examineCluster(examined, signal);
    return [...findings, rowsAbout('cloud').unknown(opened.problem)];
  }
  try {
    return await new CloudExamination(opened.value, examined, signal).run();
  } finally {
    opened.value.close();
  }
}

/** A cluster whose addresses are those of blocks. */
async function examineBlocks(
  { facts, reader, config }: Answers,
  options: Options,
  now: number,
): Promise<readonly Finding[]> {
  const { ipam, ciliumPodLabels } = options;
  const isMultiPool = ipam === 'multi-pool';
  const [pools, operators, agents] = await Promise.all([
    isMultiPool ? reader.pools() : known([]),
    reader.pods(operatorLabels),
    reader.pods(ciliumPodLabels),
  ]);
  const list = ['spec', 'ipam', ...(isMultiPool ? ['pools', 'allocated'] : ['podCIDRs'])];
  const nodes = mapped(facts.nodes, (raw) => shownNode(raw, () => undefined));
  const ciliumNodes = mapped(facts.ciliumNodes, (raw) => shownBlockNode(raw, list));
  return [
    ...objectFindings({ nodes, ciliumNodes }, 'blocks'),
    ...blockFindings({ ...facts, pools }, options),
    ...writerFindings(valueOf(ciliumNodes, []), now, 'blocks'),
    ...blockOperatorFindings(operators, valueOf(config, {})['ipam']),
    ...operatorAbsenceFindings({ operators, agents }, options),
    ...agentFindings(agents, ciliumPodLabels),
  ];
}

async function opening({ openCloud }: Examined): Promise<Fact<OpenedCloud>> {
  try {
    return known(await openCloud());
  } catch (error) {
    return unknown(problemWithCloud(error));
  }
}

interface ExaminedCluster {
  readonly findings: readonly Finding[];
  /** Absent if it does not answer. */
  readonly answers?: Answers;
}

interface Answers {
  /** `allNodes`: raw, whichever release serves them. */
  readonly facts: ReadCluster & { readonly allNodes: ReadCluster['nodes'] };
  readonly reader: ClusterReader;
  readonly config: Fact<CiliumConfig>;
}

/** Rights that every mode needs at the API server. */
async function examineCluster(
  { cluster, options, clock, machine }: Examined,
  signal: AbortSignal,
): Promise<ExaminedCluster> {
  if (cluster.kind === 'unknown') return { findings: [versionFinding('', cluster)] };
  const { server, transport, asksAsController } = cluster.value;
  const reader = new ClusterReader(transport, clock, signal);
  const version = await reader.version();
  const answer = versionFinding(server, version);
  if (version.kind === 'unknown') return { findings: [answer] };
  const { ipam, k8sNamespace: namespace, leaderElection, leaderElectionLeaseName: name } = options;
  const isShared = options.nodeSelector !== undefined;
  const lease = leaderElection ? { namespace, name, isShared } : undefined;
  const mode = ipam === 'cluster-pool' || ipam === 'multi-pool' ? ipam : 'eni';
  const read = await reader.read(lease, accessScope(mode, options));
  const { findings: ofScope, ...own } = scoped(read, isShared ? await reader.leases() : known([]), options);
  const facts = { ...read, ...own, allNodes: read.nodes };
  const config = await reader.ciliumConfig(namespace);
  const findings = [
    answer,
    ...(asksAsController ? accessFindings(facts.access, facts.user) : []),
    ...ofScope,
    ...ciliumConfigFindings(valueOf(config, {}), options),
    ...portFindings(await readPorts({ facts, reader, config }, options, machine)),
  ];
  return { findings, answers: { facts, reader, config } };
}

/** Nodes whose pods are read: what runs on every node runs on them. */
const maxNodesOfPorts = 3;

async function readPorts(
  { facts, reader, config }: Answers,
  { serveAddr }: Options,
  machine: Machine,
): Promise<PortQuestion> {
  const nodes = valueOf(facts.nodes, []);
  const addresses = machine.addresses();
  const here = nodes.find((raw) => internalAddresses(raw).some((each) => addresses.has(each)));
  const own = here === undefined ? [] : [readIdentity(here).name];
  const others = nodes.map((raw) => readIdentity(raw).name).filter((name) => !own.includes(name));
  const names = [...own, ...spread(others, maxNodesOfPorts - own.length)];
  const taken = await reader.takenPorts(names);
  const [node] = own;
  return {
    serveAddr,
    config: valueOf(config, {}),
    pods: taken.kind === 'known' ? { nodes: names.length, taken: taken.value } : undefined,
    trial:
      node === undefined
        ? undefined
        : { node: sanitizedText(node), outcome: await machine.tryPort(serveAddr) },
  };
}

/** The CiliumNodes that are served. */
interface Fleet {
  readonly reader: CloudReader;
  readonly readings: readonly CiliumNodeReading[];
  readonly nodes: readonly AskingNode[];
}

/** A cluster whose addresses are those of a cloud. */
class CloudExamination {
  #cloud: Cloud;
  readonly #answered: ReadonlySet<string>;
  readonly #examined: Examined;
  #options: Options;
  readonly #signal: AbortSignal;

  constructor({ cloud, answered }: OpenedCloud, examined: Examined, signal: AbortSignal) {
    this.#cloud = cloud;
    this.#answered = answered;
    this.#examined = examined;
    this.#options = examined.options;
    this.#signal = signal;
  }

  async run(): Promise<readonly Finding[]> {
    const { findings, answers } = await examineCluster(this.#examined, this.#signal);
    if (answers === undefined) {
      const fleet = this.#fleetOf([]);
      return [...findings, ...(await this.#ofCloud(fleet, await this.#read(fleet, []), []))];
    }
    const { facts, reader } = answers;
    const nodes = mapped(facts.nodes, (raw) => shownNode(raw, (id) => this.#cloud.instanceIdOf(id)));
    const ignored = new Set(valueOf(nodes, []).flatMap((node) => (node.isIgnored ? [node.name] : [])));
    const isServed = (raw: JsonObject): boolean => !isIgnored(raw) && !ignored.has(readIdentity(raw).name);
    const served = valueOf(facts.ciliumNodes, []).filter(isServed);
    const ofName = { nodes: facts.allNodes, config: valueOf(answers.config, {}), signal: this.#signal };
    const named = await namedCluster(this.#cloud, this.#options, ofName);
    [this.#cloud, this.#options] = [named.cloud, named.options];
    const fleet = this.#fleetOf(served);
    const pods = valueOf(await reader.waitingPods(), []);
    const waiting = nodesThatWait(fleet.nodes, served, pods, this.#examined.clock.wall());
    const shown = valueOf(nodes, []);
    const cloud = await this.#read(fleet, shown, waiting);
    const observations = valueOfRead(cloud.instances, []);
    const instances = wholeInstances(observations);
    const { networkId } = cloudSettings(this.#options).scope;
    return [
      ...findings,
      ...named.findings,
      ...this.#ofObjects(facts, nodes, confirmedNodes(shown, fleet.nodes, instances, networkId)),
      ...addressFindings(shown, instances),
      ...(facts.ciliumNodes.kind === 'known' ? this.#ofWriters(served) : []),
      ...(await this.#ofPrograms(answers, fleet)),
      ...(await this.#ofCloud(fleet, cloud, shown)),
      ...untakenFindings(waiting, interfacesIn(observations)),
    ];
  }

  #fleetOf(ciliumNodes: readonly JsonObject[]): Fleet {
    const { section } = this.#cloud.implementation;
    const reader = new CloudReader(this.#cloud, this.#options, this.#signal);
    const readings = ciliumNodes.map((raw) => readCiliumNode(raw, section));
    const nodes = reader.askingNodes(readings.flatMap((each) => (each.kind === 'node' ? [each.node] : [])));
    return { reader, readings, nodes };
  }

  /** Instances are read first of nodes on which pods wait, and of those that only an address may tie to their instance. */
  #read(
    { reader, nodes }: Fleet,
    shown: readonly ShownNode[],
    waiting: readonly AskingNode[] = [],
  ): Promise<ReadCloud> {
    const unnamed = shown.filter(({ providerId }) => providerId === '');
    const first = new Set([...waiting, ...unnamed].map(({ name }) => name));
    return reader.read(nodes, new Set(shown.flatMap(({ instanceId }) => instanceId ?? [])), first);
  }

  #ofWriters(served: readonly JsonObject[]): readonly Finding[] {
    const { key } = this.#cloud.implementation.section;
    return writerFindings(
      served.map((raw) => shownCiliumNode(raw, key)),
      this.#examined.clock.wall(),
    );
  }

  #ofObjects(
    { schema, ciliumNodes: raw }: ReadCluster,
    nodes: Fact<readonly ShownNode[]>,
    confirmed: ReadonlySet<string>,
  ): readonly Finding[] {
    const { key } = this.#cloud.implementation.section;
    const ciliumNodes = mapped(raw, (each) => shownCiliumNode(each, key));
    return [
      schemaFinding(schema.source, missingFields(schema, key)),
      ...objectFindings({ nodes, ciliumNodes, confirmed }),
    ];
  }

  async #ofPrograms({ reader, config }: Answers, { readings }: Fleet): Promise<readonly Finding[]> {
    const ours = new Set(
      readings.map((each) => sanitizedText((each.kind === 'node' ? each.node.name : each.name) ?? '')),
    );
    const { ipam, ciliumPodLabels } = this.#options;
    const allocator = cloudOf(ipam)?.otherAllocator;
    const [operators, others, agents] = await Promise.all([
      reader.pods(operatorLabels),
      allocator === undefined ? known([]) : reader.pods(allocator.selector),
      reader.pods(ciliumPodLabels),
    ]);
    return [
      ...operatorFindings(operators, valueOf(config, {})['ipam']),
      ...(allocator === undefined ? [] : allocatorFindings(allocator.name, others, ours)),
      ...operatorAbsenceFindings({ operators, agents }, this.#options),
      ...agentFindings(agents, ciliumPodLabels),
    ];
  }

  async #ofCloud(
    { reader, readings, nodes }: Fleet,
    facts: ReadCloud,
    shown: readonly ShownNode[],
  ): Promise<readonly Finding[]> {
    const { section, traits } = this.#cloud.implementation;
    const { words } = section;
    const podCapacity = new Map(shown.map((node) => [node.name, node.podCapacity]));
    const settings = cloudSettings(this.#options);
    const { infrastructure, instances, limits: read } = facts;
    const interfaces = interfacesIn(valueOfRead(instances, []));
    const { networkId, podNetworkId } = settings.scope;
    const { findings: blocks, free } = blockedNodes({ nodes, interfaces, limits: read, networkId, words });
    const limits = valueOfRead(read, new Map<string, never>());
    const releaseOption = settings.releaseExcessIps ? undefined : cloudOf(this.#options.ipam)?.releaseOption;
    return [
      ...unservedFindings(readings),
      ...cloudFindings(facts, words),
      ...(await this.#ofChanges(reader, nodes, facts)),
      ...blocks,
      ...(infrastructure.kind !== 'read'
        ? []
        : traits.interfaces === 'given'
          ? givenSubnetFindings(infrastructure.value, words)
          : [
              ...podNetworkFindings(podNetworkId, infrastructure.value, words),
              ...selectionFindings({ nodes: free, infrastructure: infrastructure.value, words }),
              ...subnetFindings({
                nodes: free,
                interfaces,
                infrastructure: infrastructure.value,
                limits,
                words,
              }),
            ]),
      ...(await this.#ofReservations(reader, free, facts)),
      ...capacityFindings({ nodes, limits, interfaces, podCapacity, traits, words, releaseOption }),
      ...orphanFindings(facts, settings.collection.kind === 'on'),
    ];
  }

  async #ofReservations(
    reader: CloudReader,
    nodes: readonly AskingNode[],
    { infrastructure, limits }: ReadCloud,
  ): Promise<readonly Finding[]> {
    if (infrastructure.kind !== 'read') return [];
    const { value } = infrastructure;
    const tight = tightSubnets(nodes, { infrastructure: value, limits: valueOfRead(limits, new Map()) });
    const read = await reader.readReservations([...tight.keys()]);
    return read === undefined ? [] : reservationFindings(read, tight, value);
  }

  async #ofChanges(
    reader: CloudReader,
    nodes: readonly AskingNode[],
    facts: ReadCloud,
  ): Promise<readonly Finding[]> {
    const { reached, infrastructure, instances } = facts;
    if (reached.kind !== 'read') return [];
    const failed = [...new Set(failuresIn(facts).map(({ failure }) => failure.action))];
    const policy = cloudOf(this.#options.ipam)?.policy;
    const without = unrehearsed({ policy, answered: this.#answered, failed, hasNodes: nodes.length > 0 });
    if (policy !== undefined || infrastructure.kind !== 'read' || instances.kind !== 'read') return [without];
    const [node, ...others] = rehearsedNodes({
      nodes,
      observations: instances.value,
      infrastructure: infrastructure.value,
      tags: this.#cloud.interfaceTags,
      traits: this.#cloud.implementation.traits,
    });
    const rehearsals = node && (await reader.rehearse([node, ...others]));
    return rehearsals === undefined ? [without] : rehearsalFindings(rehearsals);
  }
}
