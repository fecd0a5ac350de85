// The demonstration on a screen, as lines of text: everything at a glance, for a terminal that is redrawn, and one line
// a moment for a terminal that is not.
import type { Picture } from './picture.ts';

export interface Frame {
  /** Since the beginning, in s. */
  readonly elapsed: number;
  readonly chapter: string;
  readonly picture: Picture;
  /** The latest last. */
  readonly decisions: readonly string[];
}

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** At most as many lines, and as wide ones, as there is room for: the newest decisions fill what the rest leaves. */
export function frameLines(frame: Frame, { columns, rows }: FrameSize): string[] {
  const { elapsed, chapter, picture, decisions } = frame;
  const top = [
    `Headwater demonstration ${elapsed.toFixed(0).padStart(3)} s   ${chapter}`,
    '',
    ...standingLines(picture),
    '',
  ];
  const calls = wrapped(`EC2 calls   ${callsInWords(picture.calls)}`, columns - 2, 14);
  const health =
    picture.breaches.length > 0
      ? picture.breaches.slice(0, 3).map(({ text }) => `BROKEN: ${text}`)
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

function standingLines({ nodes, addresses, pods, interfaces }: Picture): string[] {
  const free = addresses.held - addresses.used;
  const longest = (pods.longestWait / 1000).toFixed(2);
  return [
    `  nodes      ${cell(nodes.total)} in all   ${cell(nodes.serving)} serve pods  ${cell(nodes.met)} at watermarks ${cell(nodes.total - nodes.met)} short`,
    `  addresses  ${cell(addresses.held)} held     ${cell(addresses.used)} used        ${cell(free)} free`,
    `  pods       ${cell(pods.served)} served   ${cell(pods.waiting)} waiting     ${longest.padStart(5)} s the longest wait`,
    `  interfaces ${cell(interfaces.attached)} attached ${cell(interfaces.loose)} on their way`,
  ];
}

/** The fullest ones, where not all have room. */
function subnetLines({ subnets }: Picture, most: number): string[] {
  const fullest = subnets.toSorted((a, b) => b.taken / b.size - a.taken / a.size).slice(0, most);
  return subnets
    .filter((subnet) => fullest.includes(subnet))
    .map(
      ({ name, taken, size }) => `  ${name.padEnd(10)} ${bar(taken / size, 30)} ${cell(taken)} of ${size}`,
    );
}

/** Breaks a text at commas, so that no line is wider than `width`; further lines are indented. */
function wrapped(text: string, width: number, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(/(?<=, )/)) {
    if (line !== '' && line.length + part.trimEnd().length > width) {
      lines.push(line.trimEnd());
      line = ' '.repeat(indent - 2);
    }
    line += part;
  }
  return [...lines, line];
}

/** What the subnets have taken, in one line. */
export function subnetsLine({ picture }: Frame): string {
  return `subnets: ${picture.subnets.map(({ name, taken, size }) => `${name} ${taken}/${size}`).join(', ')}`;
}

export function plainLine({ elapsed, chapter, picture }: Frame): string {
  const { nodes, addresses, pods, calls } = picture;
  const spent = calls.reduce((sum, each) => sum + each.calls, 0);
  return [
    `${elapsed.toFixed(0).padStart(3)} s  ${chapter}:`,
    `${nodes.met}/${nodes.total} nodes at their watermarks,`,
    `${addresses.used} of ${addresses.held} addresses used,`,
    `${pods.waiting} pods waiting, ${spent} EC2 calls`,
  ].join(' ');
}

export function callsInWords(calls: Picture['calls']): string {
  const changes = calls.filter(({ action }) => !action.startsWith('Describe'));
  const reads = calls.filter(({ action }) => action.startsWith('Describe'));
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
