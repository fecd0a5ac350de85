// Reads the cluster and the cloud, and hands what was read to the functions that judge it.
import { isCloudMode } from '../../config/clouds/clouds.ts';
import type { Options } from '../../config/option-table.ts';
import { readCiliumNode } from '../../kubernetes/cilium-node/cilium-node-reader.ts';
import type { JsonObject } from '../../kubernetes/transport/json.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { accessScope } from '../../controller/host.ts';
import type { Cloud } from '../../controller/clouds/cloud.ts';
import { type AskableCloud, openCloud, problemWithCloud } from '../cloud-access.ts';
import { cloudFindings } from './cloud-findings.ts';
import { CloudReader } from './cloud-facts.ts';
import { accessFindings, missingFields, schemaFinding, versionFinding } from './cluster-findings.ts';
import { type ReadCluster, ClusterReader } from './cluster-facts.ts';
import { type Fact, known, mapped, unknown, valueOf } from './fact.ts';
import { type Finding, finding } from './finding.ts';
import { objectFindings } from './object-findings.ts';
import { shownCiliumNode, shownNode } from './shown-objects.ts';
import { givenSubnetFindings, subnetFindings } from './subnet-findings.ts';
import { writerFindings } from './writer-findings.ts';

export interface ReachedCluster {
  /** Its address, for people. */
  readonly server: string;
  readonly transport: KubernetesTransport;
}

export type Examined = AskableCloud & { readonly cluster: Fact<ReachedCluster> };

export async function examine(examined: Examined, signal: AbortSignal): Promise<readonly Finding[]> {
  const { options, cluster } = examined;
  if (!isCloudMode(options.ipam)) {
    const { findings } = await examineCluster(cluster, options, signal);
    return findings;
  }
  const opened = await opening(examined, signal);
  if (opened.kind === 'unknown') {
    const { findings } = await examineCluster(cluster, options, signal);
    return [...findings, finding('unknown', 'cloud', opened.problem)];
  }
  const { cloud } = opened.value;
  try {
    const { findings, facts } = await examineCluster(cluster, options, signal);
    const ofCluster = facts === undefined ? [] : findingsOfCloudCluster(facts, cloud);
    const ciliumNodes = facts === undefined ? [] : valueOf(facts.ciliumNodes, []);
    return [...findings, ...ofCluster, ...(await examineCloud(cloud, { ciliumNodes, options, signal }))];
  } finally {
    opened.value.close();
  }
}

async function opening(
  connection: AskableCloud,
  signal: AbortSignal,
): Promise<Fact<Awaited<ReturnType<typeof openCloud>>>> {
  try {
    return known(await openCloud(connection, signal));
  } catch (error) {
    return unknown(problemWithCloud(error));
  }
}

/** What every mode needs of the API server; no facts if it does not answer. */
async function examineCluster(
  cluster: Fact<ReachedCluster>,
  options: Options,
  signal: AbortSignal,
): Promise<{ readonly findings: readonly Finding[]; readonly facts?: ReadCluster }> {
  if (cluster.kind === 'unknown') return { findings: [versionFinding('', cluster)] };
  const { server, transport } = cluster.value;
  const reader = new ClusterReader(transport, clock, signal);
  const version = await reader.version();
  const answer = versionFinding(server, version);
  if (version.kind === 'unknown') return { findings: [answer] };
  const { ipam, k8sNamespace: namespace, leaderElection, leaderElectionLeaseName: name } = options;
  const lease = leaderElection ? { namespace, name } : undefined;
  const mode = ipam === 'cluster-pool' || ipam === 'multi-pool' ? ipam : 'eni';
  const facts = await reader.read(lease, accessScope(mode, options));
  return { findings: [answer, ...accessFindings(facts.access, facts.user)], facts };
}

function findingsOfCloudCluster(facts: ReadCluster, cloud: Cloud): readonly Finding[] {
  const { key } = cloud.implementation.section;
  const { schema } = facts;
  const nodes = mapped(facts.nodes, (raw) => shownNode(raw, (id) => cloud.instanceIdOf(id)));
  const ciliumNodes = mapped(facts.ciliumNodes, (raw) => shownCiliumNode(raw, key));
  return [
    schemaFinding(schema.source, missingFields(schema, key)),
    ...objectFindings({ nodes, ciliumNodes }),
    ...(ciliumNodes.kind === 'known' ? writerFindings(ciliumNodes.value, clock.wall()) : []),
  ];
}

async function examineCloud(
  cloud: Cloud,
  {
    ciliumNodes,
    options,
    signal,
  }: {
    readonly ciliumNodes: readonly JsonObject[];
    readonly options: Options;
    readonly signal: AbortSignal;
  },
): Promise<readonly Finding[]> {
  const { section, traits } = cloud.implementation;
  const { words } = section;
  const reader = new CloudReader(cloud, options, signal);
  const read = ciliumNodes.flatMap((raw) => {
    const reading = readCiliumNode(raw, section);
    return reading.kind === 'node' ? [reading.node] : [];
  });
  const nodes = reader.askingNodes(read);
  const facts = await reader.read(nodes);
  const { infrastructure, limits } = facts;
  if (infrastructure.kind !== 'read') return cloudFindings(facts, words);
  const { value } = infrastructure;
  const types = limits.kind === 'read' ? limits.value : new Map<string, never>();
  const subnets =
    traits.interfaces === 'given'
      ? givenSubnetFindings(value, words)
      : subnetFindings({ nodes, infrastructure: value, limits: types, words });
  return [...cloudFindings(facts, words), ...subnets];
}
