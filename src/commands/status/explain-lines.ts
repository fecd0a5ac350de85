// The lines that the command explain prints of a node: the chain from its need to the remedy. Pure.
import { otherwiseInWords, pausedParts, poolTable, wouldInWords } from './status-lines.ts';
import type { Served, ShownNode } from './served-report.ts';
import { laidOut, type Line, type Part, title, told } from './text-table.ts';
import { ageInWords, counted, nameInWords } from './words.ts';

/** Whether someone has to act, or pods wait. */
export function isProblem({ reason, standing, pendingPods = 0, warnings = [] }: ShownNode): boolean {
  const waits = standing === 'unknown' || standing === 'awaitsAgent' || pendingPods > 0;
  return reason !== undefined || waits || warnings.length > 0;
}

/** `width`: of the terminal; undefined without one: every line is whole then. */
export function explainLines(
  node: ShownNode,
  { report, unready }: Pick<Served, 'report' | 'unready'>,
  width: number | undefined,
): readonly Line[] {
  return laidOut(
    [
      [...headParts(node), ...pausedParts(report), ...dryRunParts(node), told('not ready', unready, 'bad')],
      [...needParts(node), ...holdingParts(node)],
      selectionParts(node),
      [poolTable(node.pools ?? [])],
      callParts(node),
      nextParts(node, report),
    ],
    width,
  );
}

function headParts(node: ShownNode): readonly Part[] {
  const { name, standing, instance, reason, why, warnings = [], inDeficitForSeconds: since } = node;
  const long = since === undefined ? '' : ` for ${ageInWords(since)}`;
  return [
    title(`${name}: ${nameInWords(standing)}${long}`),
    told('instance', instance),
    told('reason', reason, 'bad'),
    told('why', why),
    ...warnings.map(({ reason: about, why: text }) =>
      told('warning', [about, text].filter((part) => part !== undefined).join(': '), 'doubtful'),
    ),
  ];
}

function dryRunParts({ dryRun }: ShownNode): readonly Part[] {
  if (dryRun === undefined) return [];
  const { would, subnets = [], decidedOtherwise: other } = dryRun;
  const from = subnets.map(([id, count]) => `${count} of ${id}`).join(', ');
  return [
    told('dry run', `${wouldInWords(would)}${from === '' ? '' : ` (${from})`}`),
    told('dry run', other && `another program decided otherwise: ${otherwiseInWords(other)}`),
  ];
}

function needParts(node: ShownNode): readonly Part[] {
  const { wanted, watermarks, pendingPods = 0, ipv6 } = node;
  const pods = told('pods', pendingPods === 0 ? undefined : `${pendingPods} waiting`, 'bad');
  if (wanted === undefined) return [pods];
  return [
    told('wants', wantsInWords(wanted, node)),
    pods,
    told('watermarks', watermarks && marksInWords(watermarks)),
    told('IPv6', ipv6 === undefined ? undefined : nameInWords(ipv6)),
  ];
}

function wantsInWords(wanted: number, node: ShownNode): string {
  const { excess = 0, available = 0, pendingPods = 0, watermarks } = node;
  if (wanted === 0) return excess === 0 ? 'nothing' : `nothing, and can release ${excess}`;
  const more = counted(wanted, 'more address', 'es');
  if (watermarks === undefined) return more;
  const { minAllocate, preAllocate } = watermarks;
  const goal =
    minAllocate > available
      ? `to have min-allocate ${minAllocate}`
      : `to keep pre-allocate ${preAllocate} free`;
  return `${more}, ${goal}${pendingPods > 0 ? ' and for pods that wait' : ''}`;
}

function marksInWords(marks: NonNullable<ShownNode['watermarks']>): string {
  const { preAllocate, minAllocate, maxAllocate, maxAboveWatermark } = marks;
  return [
    `pre-allocate ${preAllocate}`,
    ...(minAllocate > 0 ? [`min-allocate ${minAllocate}`] : []),
    ...(maxAllocate > 0 ? [`at most ${maxAllocate}`] : []),
    ...(maxAboveWatermark > 0 ? [`max-above-watermark ${maxAboveWatermark}`] : []),
  ].join(', ');
}

function holdingParts(node: ShownNode): readonly Part[] {
  const { available, used = 0, interfaces = [], excluded = [], capacity, podCIDRs } = node;
  const addresses =
    available === undefined ? undefined : `${counted(available, 'address', 'es')}, ${used} of them used`;
  return [
    told('has', podCIDRs && (podCIDRs.join(', ') || 'no block')),
    told('has', addresses),
    told('can have', capacity && capacityInWords(capacity)),
    ...interfaces.map((item) => told('interface', interfaceInWords(item))),
    ...excluded.map((item) => told('excluded', `${item.interface}: ${item.why}`, 'doubtful')),
  ];
}

function interfaceInWords(item: NonNullable<ShownNode['interfaces']>[number]): string {
  const { id, subnet, deviceIndex, addresses, prefixes } = item;
  const index = deviceIndex === undefined ? 'not attached' : `index ${deviceIndex}`;
  const ofPrefixes = prefixes > 0 ? `, ${counted(prefixes, 'prefix', 'es')}` : '';
  return `${id}: ${index}, in ${subnet}, ${counted(addresses, 'address', 'es')}${ofPrefixes}`;
}

function capacityInWords(capacity: NonNullable<ShownNode['capacity']>): string {
  const { instanceType, interfaces, attached, addressesPerInterface, addresses, prefixes } = capacity;
  const most = addresses === 0 ? '' : `${counted(addresses, 'address', 'es')} for pods: `;
  const type = instanceType === '' ? '' : `${instanceType} has `;
  const each = `${counted(addressesPerInterface, 'address', 'es')}${prefixes ? ' or prefixes' : ''} each`;
  return `${most}${type}${counted(interfaces, 'interface')} of ${each}, ${attached} attached`;
}

function selectionParts({ selection }: ShownNode): readonly Part[] {
  if (selection === undefined) return [];
  return [
    told('subnets', selection.rule),
    ...selection.subnets.map(({ id, name, zone, free, isEligible, why }) => {
      const place = `${id}${name === undefined ? '' : ` (${name})`}${zone === '' ? '' : ` in ${zone}`}`;
      const text = `${place}, ${free} free${why === undefined ? '' : `: ${why}`}`;
      return told(isEligible ? 'eligible' : 'not', text, isEligible ? 'good' : undefined);
    }),
  ];
}

/** Equal ones stand at their last. */
function callParts({ calls = [] }: ShownNode): readonly Part[] {
  return [...Map.groupBy(calls, callInWords)].flatMap(([text, of]) => {
    const [last] = of;
    if (last === undefined) return [];
    const { secondsAgo, outcome, requestId } = last;
    const request = requestId === undefined ? '' : ` (request ${requestId})`;
    const times = of.length === 1 ? '' : `, ${of.length} times`;
    const style = outcome === 'done' ? undefined : 'bad';
    return [told(`${ageInWords(secondsAgo)} ago`, `${text}${request}${times}`, style)];
  });
}

function callInWords(call: NonNullable<ShownNode['calls']>[number]): string {
  const { operation, resource, outcome, action = 'the cloud', code, message = '' } = call;
  const answer = code === undefined ? '' : `, ${action} answers ${code}: ${message}`;
  return `${nameInWords(operation)} on ${resource}: ${outcome}${answer}`;
}

function nextParts({ next }: ShownNode, { version = 'unknown' }: Served['report']): readonly Part[] {
  if (next === undefined)
    return [told('next', `version ${version} of the leader does not tell more: update it`, 'doubtful')];
  const { inSeconds, what, sooner } = next;
  const time = inSeconds === undefined ? '' : `in ${ageInWords(inSeconds)}, `;
  return [
    told('next try', `${time}when ${what}`),
    told('sooner by', sooner.length === 0 ? undefined : sooner.join('; ')),
  ];
}
