// Renders the demonstration as text: a full frame for a terminal that is redrawn, one line per moment elsewhere, and at the end
// a summary and what to try while it stays up.
import { type Departures, totalLeaving } from './departure-watch.ts';
import type { Picture } from './picture.ts';

export interface Frame {
  /** Since the start, in s. */
  readonly elapsed: number;
  readonly chapter: string;
  readonly picture: Picture;
  /** Things to watch in the chapter. */
  readonly hints: readonly string[];
  /** Events of the chapter, latest last. */
  readonly notes: readonly string[];
  /** Decisions of the controller, latest last. */
  readonly decisions: readonly string[];
}

/**
 * Lines of text on a screen. The hints of what to watch stay in place; the latest events get at least this many lines.
 */
const maxTextLines = 9;
const minNoteLines = 3;

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** Fits the lines into the screen; the newest decisions fill the remaining space. */
export function frameLines(frame: Frame, { columns, rows }: FrameSize): string[] {
  const { elapsed, chapter, picture, decisions } = frame;
  const top = [
    `Headwater demonstration ${elapsed.toFixed(0).padStart(3)} s   ${chapter}`,
    ...textLines(frame, columns),
    '',
    ...standingLines(picture),
    '',
  ];
  const calls = inLines(
    `${`${picture.cloud} calls`.padEnd(11)} ${callsInWords(picture.calls)}`.split(/(?<=, )/),
    columns - 2,
    12,
  );
  const health =
    picture.violations.length > 0
      ? picture.violations.slice(0, 3).map(({ text }) => `BROKEN: ${text}`)
      : ['invariants hold'];
  const bottom = ['', ...[...calls, ...health].map((line) => `  ${line}`)];
  const subnets = subnetLines(picture, Math.max(1, rows - top.length - bottom.length));
  const left = rows - top.length - subnets.length - bottom.length - 1;
  const latest = left > 0 ? decisions.slice(-left) : [];
  const lines = [
    ...top,
    ...subnets,
    ...bottom,
    ...(latest.length > 0 ? ['', ...latest.map((line) => `  ${line}`)] : []),
  ];
  return lines
    .slice(0, rows)
    .map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line));
}

function textLines({ hints, notes }: Pick<Frame, 'hints' | 'notes'>, columns: number): string[] {
  const flow = (text: string): string[] => inLines(text.split(/(?<= )/), columns, 3);
  const above = hints.length === 0 ? [] : flow(`   ${hints.map((line) => line.trim()).join(' ')}`);
  const room = Math.max(minNoteLines, maxTextLines - above.length);
  return [...above, ...notes.flatMap(flow).slice(-room)];
}

function standingLines({ nodes, dualStack, addresses, departures, pods, interfaces }: Picture): string[] {
  const free = addresses.held - addresses.used;
  const { marked, ready, released, hidden } = departures;
  const max = (pods.maxWait / 1000).toFixed(2);
  const { asking, met } = dualStack;
  const ofIpv6 = asking === 0 ? '' : `  ${cell(met)} of ${asking} nodes with one IPv6 /80`;
  return [
    `  nodes      ${cell(nodes.total)} in all   ${cell(nodes.serving)} serve pods  ${cell(nodes.met)} at watermarks ${cell(nodes.total - nodes.met)} lacking`,
    `  addresses  ${cell(addresses.held)} held     ${cell(addresses.used)} used        ${cell(free)} free          ${cell(addresses.excess)} too many`,
    `  leaving    ${cell(marked)} marked   ${cell(ready)} ready       ${cell(released)} released      ${cell(hidden)} hidden`,
    `  pods       ${cell(pods.served)} served   ${cell(pods.waiting)} waiting     ${max.padStart(5)} s the longest wait`,
    `  interfaces ${cell(interfaces.attached)} attached ${cell(interfaces.detached)} detached${ofIpv6}`,
  ];
}

/** Only the fullest subnets if not all fit. */
function subnetLines({ subnets }: Picture, max: number): string[] {
  const fullest = subnets.toSorted((a, b) => b.taken / b.size - a.taken / a.size).slice(0, max);
  return subnets
    .filter((subnet) => fullest.includes(subnet))
    .map(
      ({ name, taken, size }) => `  ${name.padEnd(10)} ${bar(taken / size, 30)} ${cell(taken)} of ${size}`,
    );
}

/**
 * Packs the parts into as few lines of at most `width` as possible; indents continuation lines. A longer part
 * overflows.
 */
function inLines(parts: readonly string[], width: number, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of parts) {
    if (line.trim() !== '' && line.length + part.trimEnd().length > width) {
      lines.push(line.trimEnd());
      line = ' '.repeat(indent);
    }
    line += part;
  }
  return [...lines, line];
}

/** The addresses taken per subnet, on one line. */
export function subnetsLine({ picture }: Pick<Frame, 'picture'>): string {
  return `subnets: ${picture.subnets.map(({ name, taken, size }) => `${name} ${taken}/${size}`).join(', ')}`;
}

export function plainLine(frame: Pick<Frame, 'elapsed' | 'chapter' | 'picture'>): string {
  return `${frame.elapsed.toFixed(0).padStart(3)} s  ${plainNews(frame)}`;
}

/** A line without the time. */
export function plainNews({ chapter, picture }: Pick<Frame, 'chapter' | 'picture'>): string {
  const { cloud, nodes, dualStack, addresses, pods, departures, calls } = picture;
  const spent = calls.reduce((sum, each) => sum + each.calls, 0);
  return [
    `${chapter}:`,
    `${nodes.met}/${nodes.total} nodes at their watermarks,`,
    ...(dualStack.asking === 0 ? [] : [`${dualStack.met}/${dualStack.asking} with IPv6,`]),
    `${addresses.used} of ${addresses.held} addresses used,`,
    `${pods.waiting} pods waiting,`,
    ...departuresInWords(departures),
    `${spent} ${cloud} calls`,
  ].join(' ');
}

function departuresInWords(departures: Departures): readonly string[] {
  const { marked, ready, released, hidden, unassigned } = departures;
  const leaving =
    totalLeaving(departures) === 0
      ? []
      : [`leaving: ${marked} marked ${ready} ready ${released} released ${hidden} hidden,`];
  return [...leaving, ...(unassigned === 0 ? [] : [`${unassigned} unassigned,`])];
}

function callsInWords(calls: Picture['calls']): string {
  const changes = calls.filter(({ isRead }) => !isRead);
  const reads = calls.filter(({ isRead }) => isRead);
  const spent = changes.map(({ action, calls: count, throttled }) => {
    return `${action} ${count}${throttled > 0 ? ` (${throttled} throttled)` : ''}`;
  });
  return [...spent, `reads ${reads.reduce((sum, { calls: count }) => sum + count, 0)}`].join(', ');
}

function bar(share: number, width: number): string {
  const filled = Math.min(width, Math.round(share * width));
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`;
}

function cell(value: number): string {
  return String(value).padStart(5);
}

export function summaryLines(end: {
  readonly picture: Picture;
  readonly seconds: number;
  readonly verdict: string;
}): string[] {
  const { cloud, nodes, dualStack, addresses, pods, interfaces, calls, violations } = end.picture;
  return [
    '',
    `${end.verdict} (${end.seconds.toFixed(1)} s)`,
    ...violations.map(({ text }) => `  BROKEN: ${text}`),
    `  nodes       ${nodes.met} of ${nodes.total} at their watermarks, ${nodes.serving} serving pods`,
    ...(dualStack.asking === 0
      ? []
      : [
          `  IPv6        ${dualStack.met} of ${dualStack.asking} nodes that ask for it have one /80 and show it`,
        ]),
    `  addresses   ${addresses.held} held, ${addresses.used} used, ${interfaces.attached} interfaces attached, ${interfaces.detached} detached`,
    `  pods        ${pods.served} served, ${pods.waiting} waiting, the longest wait ${(pods.maxWait / 1000).toFixed(2)} s`,
    `  ${`${cloud} calls`.padEnd(11)} ${callsInWords(calls)}`,
  ];
}

export function thingsToTry(at: {
  readonly kubeconfig: string;
  readonly address: string | undefined;
  /** Path of the controller's log. */
  readonly log: string;
  readonly prometheus: string | undefined;
  /** How to look into the cloud. */
  readonly cloud: readonly string[];
}): string[] {
  const metrics =
    at.address === undefined
      ? []
      : [
          `  curl -s http://${at.address}/metrics | grep headwater_`,
          `  bin/headwater status --address=${at.address}    (or explain NODE, with the same address)`,
          `  http://${at.address}/    (the same in a browser)`,
        ];
  return [
    '',
    'still running, until you press Ctrl-C. Things to try:',
    `  export KUBECONFIG=${at.kubeconfig}`,
    '  kubectl get ciliumnodes',
    '  kubectl get pods -A -o wide',
    '  kubectl get events',
    ...metrics,
    `  tail -f ${at.log}`,
    ...(at.prometheus === undefined
      ? []
      : [
          `  ${at.prometheus}/graph?g0.expr=headwater_subnet_free_addresses&g0.tab=0`,
          `  ${at.prometheus}/alerts`,
        ]),
    ...at.cloud.map((line) => `  ${line}`),
  ];
}
