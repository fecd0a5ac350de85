// Which programs run that give out addresses of the same machines, and whether the agents run. Pure.
import type { Options } from '../../config/option-table.ts';
import { type JsonObject, listAt, textAt } from '../../runtime/json.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { Fact } from './fact.ts';
import { type Finding, rowOnAny, rowPerText, rowsAbout } from './finding.ts';
import { hasCondition } from '../../kubernetes/object-identity.ts';

/** A pod, reduced to what shows which program runs in it. */
export interface ShownPod {
  /** With its namespace. */
  readonly name: string;
  readonly node: string;
  /** Images, commands and arguments of its containers. */
  readonly words: string;
  readonly isReady: boolean;
  /** Tags of its images that begin like a version. */
  readonly versions: readonly string[];
  /** Why a container waits, such as ImagePullBackOff. */
  readonly waitsFor: string | undefined;
}

export function shownPod(raw: JsonObject): ShownPod {
  const namespace = textAt(raw, 'metadata', 'namespace') ?? '';
  const containers = listAt(raw, 'spec', 'containers');
  const words = containers.flatMap((each) => [
    textAt(each, 'image') ?? '',
    ...listAt(each, 'command').map(String),
    ...listAt(each, 'args').map(String),
  ]);
  const statuses = ['initContainerStatuses', 'containerStatuses'].flatMap((list) =>
    listAt(raw, 'status', list),
  );
  const waiting = statuses.map((each) => textAt(each, 'state', 'waiting', 'reason')).find(Boolean);
  return {
    name: sanitizedText(`${namespace}/${textAt(raw, 'metadata', 'name') ?? ''}`),
    node: sanitizedText(textAt(raw, 'spec', 'nodeName') ?? ''),
    words: words.join(' '),
    versions: containers.flatMap((each) => {
      const version = imageVersion.exec(textAt(each, 'image') ?? '')?.[1];
      return version === undefined ? [] : [version];
    }),
    isReady: hasCondition(raw, 'Ready', 'True'),
    waitsFor: waiting === undefined ? undefined : sanitizedText(waiting),
  };
}

/** A digest may follow. */
const imageVersion = /:(v?\d+\.[\w.-]{1,60})(?:@|$)/;

const programs = rowsAbout('other programs');
const agent = rowsAbout('agents');

/** The program of cilium-operator that gives out addresses of a cloud; the generic one with --ipam=crd gives out none. */
const operatorOfCloud = /cilium-operator-(?:aws|azure|alibabacloud)|operator-(?:aws|azure|alibabacloud)[:@]/;

/** The program that serves every mode: that of a cloud if its options say so. */
const operatorOfAll = /(?:^|[\s/])cilium-operator(?:\s|$)/;
const modesOfClouds = ['eni', 'azure', 'alibabacloud'];

/** `configured`: the mode in the ConfigMap of Cilium, which counts where no argument names one. */
export function operatorFindings(
  pods: Fact<readonly ShownPod[]>,
  configured: string | undefined,
): readonly Finding[] {
  if (pods.kind === 'unknown') return [programs.unknown(`pods cannot be read: ${pods.problem}`)];
  const isOfCloud = (pod: ShownPod): boolean =>
    operatorOfCloud.test(pod.words) ||
    (operatorOfAll.test(pod.words) && modesOfClouds.includes(modeOf(pod, configured) ?? ''));
  const running = pods.value.filter(isOfCloud);
  // The generic program starts with no mode of a cloud.
  const giveBlocks = operatorsOfBlocks(
    pods.value.filter((pod) => !running.includes(pod)),
    (pod) => modeOf(pod, configured),
    [...idleModes, ...modesOfClouds],
  );
  return [
    ...rowOnAny(running, 'pod', (names) =>
      programs.problem(
        `cilium-operator gives out addresses of this cloud: ${names}`,
        'replace its image and its program by those of operator-generic, with --ipam=crd, or scale it to 0 (docs/migrate.md)',
      ),
    ),
    ...giveBlocks,
  ];
}

/** Modes in which cilium-operator gives out nothing. */
const idleModes = ['crd', 'kubernetes', 'delegated-plugin'];

/** Undefined if neither its arguments nor its ConfigMap name one. */
function modeOf({ words }: ShownPod, configured: string | undefined): string | undefined {
  return /--ipam[= ](\S+)/.exec(words)?.[1] ?? configured;
}

/** `configured`: as above. */
export function blockOperatorFindings(
  pods: Fact<readonly ShownPod[]>,
  configured: string | undefined,
): readonly Finding[] {
  if (pods.kind === 'unknown') return [programs.unknown(`pods cannot be read: ${pods.problem}`)];
  return operatorsOfBlocks(pods.value, (pod) => modeOf(pod, configured) ?? 'cluster-pool', idleModes);
}

function operatorsOfBlocks(
  pods: readonly ShownPod[],
  modeIn: (pod: ShownPod) => string | undefined,
  others: readonly string[],
): readonly Finding[] {
  const giving = pods.flatMap((pod) => {
    const mode = modeIn(pod);
    return mode === undefined || others.includes(mode) ? [] : { name: pod.name, text: mode };
  });
  return rowPerText(giving, 'pod', (mode, names) =>
    programs.problem(
      sanitizedText(`cilium-operator runs with ipam=${mode}, and gives out addresses: ${names}`),
      'give it the argument --ipam=crd before Headwater leads (docs/migrate.md)',
    ),
  );
}

/** Pods of cilium-operator, whatever its program. */
export const operatorLabels = 'io.cilium/app=operator';

/** Duties of cilium-operator that nobody has while agents run without it. */
export function operatorAbsenceFindings(
  { operators, agents }: Readonly<Record<'agents' | 'operators', Fact<readonly ShownPod[]>>>,
  {
    manageAgentTaint,
    agentNotReadyTaintKey: key,
  }: Pick<Options, 'agentNotReadyTaintKey' | 'manageAgentTaint'>,
): readonly Finding[] {
  const runs = operators.kind === 'unknown' || operators.value.length > 0;
  const isNeeded = agents.kind === 'known' && agents.value.length > 0;
  if (manageAgentTaint || runs || !isNeeded) return [];
  return [
    programs.warning(
      `no pod has the label ${operatorLabels}: without cilium-operator, new Nodes keep the taint ${key}, and get no pods`,
      'run one that gives out no addresses, or set manage-agent-taint (docs/migrate.md)',
    ),
  ];
}

/**
 * `name`: of the program that gives out addresses of the same machines. `ours`: nodes that have CiliumNodes. Others may run it;
 * before there are any, it counts everywhere.
 */
export function allocatorFindings(
  name: string,
  pods: Fact<readonly ShownPod[]>,
  ours: ReadonlySet<string>,
): readonly Finding[] {
  if (pods.kind === 'unknown') return [];
  const all = [...new Set(pods.value.map(({ node }) => node))];
  const nodes = ours.size === 0 ? all : all.filter((node) => ours.has(node));
  return rowOnAny(nodes, 'node', (names) =>
    programs.problem(
      `${name} runs on ${names}, and takes addresses of the same machines`,
      'remove it from the nodes that run Cilium',
    ),
  );
}

export function agentFindings(pods: Fact<readonly ShownPod[]>, selector: string): readonly Finding[] {
  if (pods.kind === 'unknown') return [agent.unknown(`pods cannot be read: ${pods.problem}`)];
  const unready = pods.value.filter(({ isReady }) => !isReady);
  const waiting = unready.map(({ name, waitsFor: text = 'not ready' }) => ({ name, text }));
  const rows = rowPerText(waiting, 'pod', (reason, names) =>
    agent.warning(
      `${names} of ${selector}: ${reason}`,
      'read its log: an agent is not ready before it has addresses',
    ),
  );
  const ready = pods.value.length - unready.length;
  if (rows.length > 0 || ready === 0) return rows;
  const versions = Map.groupBy(
    pods.value.flatMap((pod) => pod.versions.slice(0, 1)),
    (version) => version,
  );
  const counts = [...versions].map(([version, of]) => `, ${of.length} of ${version}`).toSorted();
  return [agent.ok(`${ready} pods of ${selector} are ready${counts.slice(0, 5).join('')}`)];
}
