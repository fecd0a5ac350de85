// What a trial found: the state of the addresses in use, how long lawful work took beside a calm run, and the sentence that a
// person read.
import { resyncInterval, type TrialCluster } from './rig/trial-cluster.ts';
import type { TrialNode } from './rig/trial-node.ts';

export interface Beside {
  readonly what: string;
  /** Seconds. */
  readonly troubled: number;
  readonly calm: number;
}

export interface Addresses {
  readonly before: number;
  readonly after: number;
  /** In use and not offered at some time, or not assigned in the end; which. */
  readonly lost: readonly string[];
  /** Offered on two nodes at once; which. */
  readonly doubled: readonly string[];
}

export interface Findings {
  /** What the trial did. */
  readonly story: string;
  readonly addresses: Addresses;
  readonly times: readonly Beside[];
  /** The sentence that a person must read; undefined if there must be none. */
  readonly sentence: string | undefined;
  /** Other unmet expectations. */
  readonly complaints: readonly string[];
}

/** Work under faults may take this many times as long as without. */
const slowest = 2;

export function complaintsOf({ addresses, times, complaints }: Findings): readonly string[] {
  const { lost, doubled } = addresses;
  return [
    ...complaints,
    ...(lost.length === 0 ? [] : [`lost in use: ${someOf(lost)}`]),
    ...(doubled.length === 0 ? [] : [`on two nodes: ${someOf(doubled)}`]),
    ...times
      .filter(isDelayed)
      .map(({ what }) => `${what} took more than ${slowest} times as long as without the trouble`),
  ];
}

/** What only a resync shows waits for the next one, wherever in its interval the work starts. */
function isDelayed({ troubled, calm }: Beside): boolean {
  return troubled > slowest * calm + resyncInterval / 1000;
}

export function lineOf(name: string, findings: Findings): string {
  const { story, addresses, times, sentence } = findings;
  const complaints = complaintsOf(findings);
  const { before, after, lost, doubled } = addresses;
  const parts = [
    story,
    `in use: ${count(before)} before, ${count(after)} after, ${count(lost.length)} lost, ${count(doubled.length)} on two nodes`,
    ...times.map(
      ({ what, troubled, calm }) =>
        `${what}: ${troubled.toFixed(1)} s beside ${calm.toFixed(1)} s (× ${(troubled / calm).toFixed(1)})`,
    ),
    sentence === undefined ? 'nothing is said' : `it says: ${sentence}`,
    ...complaints.map((complaint) => `NOT SO: ${complaint}`),
  ];
  return [
    `${complaints.length === 0 ? 'passed' : 'FAILED'}  ${name}`,
    ...parts.map((part) => `        ${part}`),
  ].join('\n');
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}

const maxShown = 3;

function someOf(things: readonly string[]): string {
  const more = things.length - maxShown;
  return `${things.slice(0, maxShown).join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}`;
}

export function inUse(nodes: readonly TrialNode[]): number {
  return nodes.reduce((sum, node) => sum + node.inUse.size, 0);
}

/** By what the agents saw and what the cloud has. */
export async function addressesNow({ fleet, hand }: TrialCluster, before: number): Promise<Addresses> {
  const carriers = new Map(
    (await hand.state()).interfaces.flatMap(({ instanceId, addresses }) =>
      addresses.map((address) => [address, instanceId] as const),
    ),
  );
  const lost = fleet.everyNode.flatMap(({ facts, lost: unoffered, inUse: used }) => {
    const unassigned = [...used].filter((address) => carriers.get(address) !== facts.instanceId);
    return [...new Set([...unoffered, ...unassigned])].map((address) => `${address} of ${facts.name}`);
  });
  return { before, after: inUse(fleet.everyNode), lost, doubled: [...fleet.doubled] };
}
