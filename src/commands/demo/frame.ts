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

export function frameLines({ elapsed, chapter, picture, decisions }: Frame, columns: number): string[] {
  const { nodes, addresses, pods, interfaces, subnets, calls, breaches } = picture;
  const free = addresses.held - addresses.used;
  const lines = [
    `Headwater demonstration   ${elapsed.toFixed(0).padStart(3)} s   ${chapter}`,
    '',
    `  nodes       ${cell(nodes.total)} in all    ${cell(nodes.serving)} serve pods    ${cell(nodes.met)} at their watermarks    ${cell(nodes.total - nodes.met)} short`,
    `  addresses   ${cell(addresses.held)} held      ${cell(addresses.used)} used          ${cell(free)} free`,
    `  pods        ${cell(pods.served)} served    ${cell(pods.waiting)} waiting       ${(pods.longestWait / 1000).toFixed(2).padStart(5)} s the longest wait`,
    `  interfaces  ${cell(interfaces.attached)} attached  ${cell(interfaces.loose)} on their way`,
    '',
    ...subnets.map(
      ({ name, taken, size }) => `  ${name.padEnd(10)} ${bar(taken / size, 30)} ${cell(taken)} of ${size}`,
    ),
    '',
    `  EC2 calls   ${callsInWords(calls)}`,
    '',
    ...(breaches.length > 0
      ? breaches.slice(0, 3).map(({ text }) => `  BROKEN: ${text}`)
      : ['  invariants hold']),
    '',
    ...decisions.map((decision) => `  ${decision}`),
  ];
  return lines.map((line) => (line.length > columns ? `${line.slice(0, columns - 1)}…` : line));
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
