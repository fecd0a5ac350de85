// The lines that the command explain prints of a node: the chain from its need to the remedy. Pure.
import { otherwiseInWords, pausedLines, poolLines, wouldInWords } from './status-lines.ts';
import type { Served, ShownNode } from './served-report.ts';
import { cut, type Line, title, told } from './text-table.ts';
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
  const sections = [
    [
      ...headLines(node, width),
      ...pausedLines(report, width),
      ...dryRunLines(node, width),
      ...unreadyLines(unready, width),
    ],
    [...needLines(node, width), ...holdingLines(node, width)],
    selectionLines(node, width),
    poolLines(node.pools ?? [], width),
    callLines(node, width),
    nextLines(node, report, width),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : [{ text: '' }, ...lines]))
    .map((line) => ({ ...line, text: cut(line.text, width) }));
}

type Width = number | undefined;

function headLines(node: ShownNode, width: Width): readonly Line[] {
  const { name, standing, instance, reason, why, warnings = [], inDeficitForSeconds: since } = node;
  const long = since === undefined ? '' : ` for ${ageInWords(since)}`;
  return [
    ...title(`${name}: ${nameInWords(standing)}${long}`, width),
    ...(instance === undefined ? [] : told('instance', instance, width)),
    ...(reason === undefined ? [] : told('reason', reason, width, 'bad')),
    ...(why === undefined ? [] : told('why', why, width)),
    ...warnings.flatMap(({ reason: about, why: text }) =>
      told('warning', [about, text].filter((part) => part !== undefined).join(': '), width, 'doubtful'),
    ),
  ];
}

function dryRunLines({ dryRun }: ShownNode, width: Width): readonly Line[] {
  if (dryRun === undefined) return [];
  const { would, subnets, decidedOtherwise: other } = dryRun;
  const from = subnets.map(([id, count]) => `${count} of ${id}`).join(', ');
  return [
    `${wouldInWords(would)}${from === '' ? '' : ` (${from})`}`,
    ...(other === undefined ? [] : [`another program decided otherwise: ${otherwiseInWords(other)}`]),
  ].flatMap((text) => told('dry run', text, width));
}

function unreadyLines(unready: string | undefined, width: Width): readonly Line[] {
  return unready === undefined ? [] : told('not ready', unready, width, 'bad');
}

function needLines(node: ShownNode, width: Width): readonly Line[] {
  const { wanted, watermarks, pendingPods = 0, ipv6 } = node;
  const pods = pendingPods === 0 ? [] : told('pods', `${pendingPods} waiting`, width, 'bad');
  if (wanted === undefined) return pods;
  return [
    ...told('wants', wantsInWords(wanted, node), width),
    ...pods,
    ...(watermarks === undefined ? [] : told('watermarks', marksInWords(watermarks), width)),
    ...(ipv6 === undefined ? [] : told('IPv6', nameInWords(ipv6), width)),
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

function holdingLines(node: ShownNode, width: Width): readonly Line[] {
  const { available, used = 0, interfaces = [], excluded = [], capacity, podCIDRs } = node;
  return [
    ...(podCIDRs === undefined ? [] : told('has', podCIDRs.join(', ') || 'no block', width)),
    ...(available === undefined
      ? []
      : told('has', `${counted(available, 'address', 'es')}, ${used} of them used`, width)),
    ...(capacity === undefined ? [] : told('can have', capacityInWords(capacity), width)),
    ...interfaces.flatMap(({ id, subnet, deviceIndex, addresses, prefixes }) => {
      const index = deviceIndex === undefined ? 'not attached' : `index ${deviceIndex}`;
      const held = [
        counted(addresses, 'address', 'es'),
        ...(prefixes > 0 ? [counted(prefixes, 'prefix', 'es')] : []),
      ];
      return told('interface', `${id}: ${index}, in ${subnet}, ${held.join(', ')}`, width);
    }),
    ...excluded.flatMap((item) => told('excluded', `${item.interface}: ${item.why}`, width, 'doubtful')),
  ];
}

function capacityInWords(capacity: NonNullable<ShownNode['capacity']>): string {
  const { instanceType, interfaces, attached, addressesPerInterface, addresses, prefixes } = capacity;
  const most = addresses === 0 ? '' : `${counted(addresses, 'address', 'es')} for pods: `;
  const type = instanceType === '' ? '' : `${instanceType} has `;
  const each = `${counted(addressesPerInterface, 'address', 'es')}${prefixes ? ' or prefixes' : ''} each`;
  return `${most}${type}${counted(interfaces, 'interface')} of ${each}, ${attached} attached`;
}

function selectionLines({ selection }: ShownNode, width: Width): readonly Line[] {
  if (selection === undefined) return [];
  return [
    ...told('subnets', selection.rule, width),
    ...selection.subnets.flatMap(({ id, name, zone, free, isEligible, why }) => {
      const place = `${id}${name === undefined ? '' : ` (${name})`}${zone === '' ? '' : ` in ${zone}`}`;
      const text = `${place}, ${free} free${why === undefined ? '' : `: ${why}`}`;
      return told(isEligible ? 'eligible' : 'not', text, width, isEligible ? 'good' : undefined);
    }),
  ];
}

/** Equal ones stand at their last. */
function callLines({ calls = [] }: ShownNode, width: Width): readonly Line[] {
  return [...Map.groupBy(calls, callInWords)].flatMap(([text, of]) => {
    const [last] = of;
    if (last === undefined) return [];
    const { secondsAgo, outcome, requestId } = last;
    const request = requestId === undefined ? '' : ` (request ${requestId})`;
    const times = of.length === 1 ? '' : `, ${of.length} times`;
    const style = outcome === 'done' ? undefined : 'bad';
    return told(`${ageInWords(secondsAgo)} ago`, `${text}${request}${times}`, width, style);
  });
}

function callInWords(call: NonNullable<ShownNode['calls']>[number]): string {
  const { operation, resource, outcome, action = 'the cloud', code, message = '' } = call;
  const answer = code === undefined ? '' : `, ${action} answers ${code}: ${message}`;
  return `${nameInWords(operation)} on ${resource}: ${outcome}${answer}`;
}

function nextLines(
  { next }: ShownNode,
  { version = 'unknown' }: Served['report'],
  width: Width,
): readonly Line[] {
  if (next === undefined)
    return told('next', `version ${version} of the leader does not tell more: update it`, width, 'doubtful');
  const { inSeconds, what, sooner } = next;
  return [
    ...told(
      'next try',
      `${inSeconds === undefined ? '' : `in ${ageInWords(inSeconds)}, `}when ${what}`,
      width,
    ),
    ...(sooner.length === 0 ? [] : told('sooner by', sooner.join('; '), width)),
  ];
}
