// Reads from EC2 which instances there are, and in which state.
import { unreadable } from '../contract/cloud-failure.ts';
import { type Described, DescribedInstances } from '../reading/described-instances.ts';
import type { Instance } from '../contract/facts.ts';
import type { Ec2Instance, Filter } from './ec2-api.ts';
import { refuseRepeated, refuseUnrequested } from '../reading/plausible.ts';
import { isIdOf } from './ids.ts';
import { partsOf } from '../reading/in-parts.ts';
import { maxFilterValues, type Reading } from './read-list.ts';

export interface ReadInstances {
  readonly startedAt: number;
  readonly described: DescribedInstances;
}

/** The instances that match the filters. Rejects with a CloudError. */
export async function readInstances(
  from: Pick<Reading, 'client' | 'context'>,
  filters: readonly Filter[],
  pageSize: number,
): Promise<ReadInstances> {
  const input = { Filters: filters, MaxResults: pageSize };
  const { startedAt, items } = await from.client.list('DescribeInstances', input, from.context);
  return { startedAt, described: new DescribedInstances(items.flatMap(instancesOf).map(describedAs)) };
}

/**
 * The values of one tag of each instance that EC2 shows: none if it lacks the tag. Rejects with a CloudError, too, if the
 * answer proves nothing. `ids`: in EC2's form.
 */
export async function readInstanceTag(
  from: Pick<Reading, 'client' | 'context'>,
  ids: readonly string[],
  { key, pageSize }: { readonly key: string; readonly pageSize: number },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const part of partsOf(ids, maxFilterValues))
    for (const [id, values] of await readTagOf(from, part, { key, pageSize })) found.set(id, values);
  return found;
}

async function readTagOf(
  from: Pick<Reading, 'client' | 'context'>,
  ids: readonly string[],
  { key, pageSize }: { readonly key: string; readonly pageSize: number },
): Promise<readonly (readonly [id: string, values: readonly string[]])[]> {
  const action = 'DescribeInstances';
  const input = { Filters: [{ Name: 'instance-id', Values: ids }], MaxResults: pageSize };
  const { items } = await from.client.list(action, input, from.context);
  const shown = items.flatMap(instancesOf);
  const nameless = shown.find(({ InstanceId: id }) => !isIdOf('i', id));
  if (nameless !== undefined) throw unreadable(action, 'InstanceId of an instance is missing');
  refuseUnrequested(action, ids, shown, ({ InstanceId }) => InstanceId);
  refuseRepeated(action, shown, ({ InstanceId }) => InstanceId);
  return shown.map(({ InstanceId: id = '', Tags: tags = [] }) => [
    id,
    tags.flatMap(({ Key, Value = '' }) => (Key === key ? [Value] : [])),
  ]);
}

function instancesOf({ Instances }: { readonly Instances?: readonly Ec2Instance[] | undefined }) {
  if (Instances === undefined) throw unreadable('DescribeInstances', 'Instances of a reservation is missing');
  return Instances;
}

/** By EC2's name, with EC2's number. */
const instanceStates = new Map<string, readonly [state: Instance['state'], code: number]>([
  ['pending', ['pending', 0]],
  ['running', ['running', 16]],
  ['shutting-down', ['terminating', 32]],
  ['terminated', ['terminated', 48]],
  ['stopping', ['stopping', 64]],
  ['stopped', ['stopped', 80]],
]);

/** The state that ends a node must agree by name and by number, if EC2 sends the number. */
function describedAs({ InstanceId: id, State }: Ec2Instance): Described {
  if (!isIdOf('i', id)) return { id: undefined, problem: 'InstanceId of an instance is missing' };
  const [state, code] = instanceStates.get(State?.Name ?? '') ?? [];
  if (state === undefined) return { id, problem: `the state of ${id} is ${State?.Name}` };
  // The high byte is internal to EC2.
  if (State?.Code !== undefined && State.Code % 256 !== code)
    return { id, problem: `the state of ${id} is both ${State.Name} and ${State.Code}` };
  return { id, state };
}
