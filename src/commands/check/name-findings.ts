// Whether the cluster has the name that its options ask for, and whether instances have one that nobody asks for.
import { cloudSettings } from '../../config/clouds/clouds.ts';
import { askedNameTag, askingFor, nameTagOn } from '../../config/cluster-name.ts';
import type { Options } from '../../config/option-table.ts';
import type { Cloud } from '../../controller/clouds/cloud.ts';
import { cloudNamed, readClusterName } from '../../controller/eni/cluster-naming.ts';
import type { ShownClusterName } from '../../controller/eni/shown-cluster-name.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { counted } from '../status/words.ts';
import { answerOf, type CloudRead } from './cloud-facts.ts';
import { type Fact, known, valueOf } from './fact.ts';
import { type Finding, rowsAbout } from './finding.ts';
import { type CiliumConfig, ciliumConfigFindings } from './settings-findings.ts';
import { shownNode } from './shown-objects.ts';

const rows = rowsAbout('cluster name');

/** The cloud and the options, with the name if it is asked for and found. */
export interface NamedCluster {
  readonly cloud: Cloud;
  readonly options: Options;
  readonly findings: readonly Finding[];
}

/** Reads the name as the controller does. `nodes`: raw, of every release. `config`: the options of the agents. */
export async function namedCluster(
  cloud: Cloud,
  options: Options,
  {
    nodes,
    config,
    signal,
  }: {
    readonly nodes: Fact<readonly JsonObject[]>;
    readonly config: CiliumConfig;
    readonly signal: AbortSignal;
  },
): Promise<NamedCluster> {
  const wanted = wantedName(options);
  if (wanted === undefined) return { cloud, options, findings: [] };
  const asked = valueOf(nodes, []).flatMap(
    (raw) => shownNode(raw, (id) => cloud.instanceIdOf(id)).instanceId ?? [],
  );
  const context = { caller: { priority: 'normal' }, signal } as const;
  const question = { key: wanted.key, asked, options };
  const read =
    nodes.kind === 'unknown'
      ? nodes
      : known(await answerOf(() => readClusterName(cloud.implementation, question, context)));
  const findings = nameFindings({ ...wanted, read });
  const shown = read.kind === 'known' && read.value.kind === 'read' ? read.value.value : undefined;
  if (!wanted.isAsked || shown?.kind !== 'found') return { cloud, options, findings };
  const named = { ...options, clusterName: shown.name };
  const all = [...findings, ...agentsNamedOtherwise(config, named)];
  return { cloud: cloudNamed(cloud, named), options: named, findings: all };
}

/** Without a name, cilium-operator takes that of the tag, too. */
function agentsNamedOtherwise({ 'cluster-name': theirs }: CiliumConfig, named: Options): readonly Finding[] {
  if (theirs === undefined || theirs === 'default') return [];
  return ciliumConfigFindings({ 'cluster-name': theirs }, named);
}

/** The name to look for; undefined if the options say it, or nothing depends on it, or the cloud gives none. */
function wantedName(options: Options): Pick<AskedName, 'key' | 'isAsked'> | undefined {
  const key = nameTagOn(options.ipam);
  const isAsked = askedNameTag(options) !== undefined;
  const isLacking = key !== undefined && cloudSettings(options).collection.kind === 'refused';
  return key !== undefined && (isAsked || isLacking) ? { key, isAsked } : undefined;
}

export interface AskedName {
  /** The tag of instances with the name. */
  readonly key: string;
  /** Whether the options ask for it. Without, they name no cluster. */
  readonly isAsked: boolean;
  /** Unknown if Nodes are. */
  readonly read: Fact<CloudRead<ShownClusterName>>;
}

export function nameFindings({ key, isAsked, read }: AskedName): readonly Finding[] {
  if (read.kind === 'unknown') return isAsked ? [rows.unknown(`Nodes cannot be read: ${read.problem}`)] : [];
  const { value } = read;
  if (value.kind !== 'read') return isAsked && value.kind === 'failed' ? [unread(key, value)] : [];
  const shown = value.value;
  if (shown.kind === 'none') return isAsked ? [rows.problem(shown.problem, shown.remedy)] : [];
  const { name, instances } = shown;
  const carriers = `the tag ${key} of ${counted(instances, 'instance')}`;
  if (isAsked) return [rows.ok(`${name}, by ${carriers}`)];
  const found = `${carriers} says ${name}, and the option cluster-name does not ask for it`;
  return [rows.warning(found, `set --cluster-name=${askingFor(key)}`)];
}

/** A denial is certain; anything else may pass. */
function unread(key: string, { failure, remedy }: Extract<CloudRead<never>, { kind: 'failed' }>): Finding {
  const verdict = failure.kind === 'notAuthorized' ? 'problem' : 'unknown';
  return rows[verdict](`the tag ${key} cannot be read: ${failure.code}: ${failure.message}`, remedy);
}
