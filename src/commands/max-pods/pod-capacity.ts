// How many pods a node of each instance type can have, and how that is printed. Pure.
import type { CloudDescriptor } from '../../config/clouds/cloud-descriptor.ts';
import {
  type CapacityRequirements,
  delegatesPrefixes,
  maximumAllocatable,
} from '../../node/demand/capacity.ts';
import type { InstanceLimits, UnreadableLimits } from '../../providers/contract/facts.ts';
import { type Line, table, told } from '../status/text-table.ts';

/** The cloud's answer about a type. */
export type FoundLimits = InstanceLimits | UnreadableLimits | undefined;

export type TypeCapacity = { readonly type: string } & (
  | {
      readonly interfaces: number;
      readonly addressesPerInterface: number;
      /** Whether its interfaces get prefixes. */
      readonly prefixes: boolean;
      readonly podAddresses: number;
      /** With pods in the network of the host, which need no address. */
      readonly maxPods: number;
      /** Why there are fewer than addresses would allow; absent if there are not. */
      readonly note?: string;
    }
  | { readonly problem: string }
);

export interface CapacityQuestion extends CapacityRequirements {
  readonly hostNetworkPods: number;
  readonly mostPods: CloudDescriptor<never>['mostPods'];
}

export function capacityOf(type: string, limits: FoundLimits, asked: CapacityQuestion): TypeCapacity {
  if (limits === undefined) return { type, problem: 'the cloud knows no such type here' };
  if ('problem' in limits)
    return { type, problem: `what the cloud says of it cannot be used: ${limits.problem}` };
  const { interfaces, addressesPerInterface } = limits;
  const podAddresses = maximumAllocatable(limits, asked);
  if (podAddresses === 0)
    return {
      type,
      problem: `it has no interface for pods: ${interfaces} in all, of which the first for pods has index ${asked.firstInterfaceIndex}`,
    };
  return {
    type,
    interfaces,
    addressesPerInterface,
    prefixes: delegatesPrefixes(limits, asked),
    podAddresses,
    ...podsWith(podAddresses + asked.hostNetworkPods, asked),
  };
}

function podsWith(
  pods: number,
  { mostPods: most }: CapacityQuestion,
): { readonly maxPods: number; readonly note?: string } {
  if (most === undefined || pods <= most.count) return { maxPods: pods };
  return { maxPods: most.count, note: `${most.by} admits ${most.count} pods at most on a node, not ${pods}` };
}

export function isKnown<T extends TypeCapacity>(
  capacity: T,
): capacity is Exclude<T, { readonly problem: string }> {
  return !('problem' in capacity);
}

/** The part of a node class that holds for all of these types. Undefined if none is known. */
export function nodeClassPart(
  capacities: readonly TypeCapacity[],
  { kind, maxPods: path }: NonNullable<CloudDescriptor<never>['nodeClass']>,
): string | undefined {
  const known = capacities.filter(isKnown);
  if (known.length === 0) return undefined;
  const least = Math.min(...known.map(({ maxPods }) => maxPods));
  const words = known.map(({ type, maxPods }) => `${type} ${maxPods}`).join(', ');
  const lines = path.map((member, depth) => `${'  '.repeat(depth)}${member}:`);
  const notes = notesOf(known).map((note) => `# ${note}\n`);
  return `# of an ${kind}: ${words}\n${notes.join('')}${lines.join('\n')} ${least}\n`;
}

function notesOf(known: readonly { readonly note?: string }[]): readonly string[] {
  return [...new Set(known.flatMap(({ note }) => note ?? []))];
}

export function capacityLines(
  capacities: readonly TypeCapacity[],
  width: number | undefined,
): readonly Line[] {
  const known = capacities.filter(isKnown);
  return [
    table(known, {
      columns: [
        ['TYPE', ({ type }) => type],
        ['INTERFACES', ({ interfaces }) => interfaces, 1],
        ['ADDRESSES EACH', ({ addressesPerInterface }) => addressesPerInterface, 2],
        ['PREFIXES', ({ prefixes }) => (prefixes ? 'yes' : 'no'), 3],
        ['POD ADDRESSES', ({ podAddresses }) => podAddresses],
        ['MAX PODS', ({ maxPods }) => maxPods],
      ],
    }),
    ...notesOf(known).map((note) => told('note', note)),
    ...capacities.flatMap((each) => (isKnown(each) ? [] : told(each.type, each.problem, 'bad'))),
  ].flatMap((part) => part(width));
}
