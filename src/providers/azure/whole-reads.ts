// Reads one scale set, one group or one VM whole, or only whether it is there. An answer is about one owner: what a scale
// set does not show follows only from its last page.
import type { CallContext, ObservedPage } from '../contract/cloud.ts';
import type { Instance, Observation } from '../contract/facts.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import { policyOf } from '../contract/failure-policy.ts';
import { repeated, unclearItems } from '../reading/plausible.ts';
import { isFirstSlot, isPrimaryInterface, type NetworkInterface } from '../contract/network-interface.ts';
import type { Clock } from '../../runtime/clock.ts';
import { list, text } from './arm-api.ts';
import type { Json } from '../../runtime/json.ts';
import { type ArmClient, type ReadAnswer, unreadable } from './arm-client.ts';
import {
  type InstanceRef,
  instanceKey,
  parseInterfaceId,
  type ScaleSetVm,
  type StandaloneVm,
  type Spellings,
} from './ids.ts';
import { unclearIn, inPlaces, readInterface, saidPrimary, type ShownInterface } from './network-interface.ts';
import type { FailedModels } from './failed-models.ts';
import type { PublicAddresses } from './public-addresses.ts';
import {
  interfacesInGroup,
  oneInterface,
  scaleSet,
  scaleSetInterfaces,
  scaleSetVm,
  scaleSetVmInterfaces,
  standaloneVm,
} from './requests.ts';

export interface WholeReadParts {
  readonly client: ArmClient;
  readonly spellings: Spellings;
  readonly failedModels: Pick<FailedModels, 'noteShown'>;
  readonly publicAddresses: Pick<PublicAddresses, 'complete'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export interface Named {
  readonly id: string;
  readonly ref: InstanceRef;
}

/** A list to read, and whose part of it counts. */
export type List = { readonly isListing: boolean; readonly named: readonly Named[] } & (
  | { readonly kind: 'scaleSet'; readonly set: ScaleSetVm }
  | { readonly kind: 'group'; readonly vm: StandaloneVm }
);

/** Instances that were not found, of one scale set or group. */
export interface Owner {
  readonly ref: InstanceRef;
  readonly named: readonly Named[];
}

export type Whole = Pick<ObservedPage, 'startedAt' | 'observations' | 'unclear'>;

/** Rejects with a CloudError, as all reads here. */
export async function readAList(parts: WholeReadParts, source: List, context: CallContext): Promise<Whole> {
  const request = source.kind === 'scaleSet' ? scaleSetInterfaces(source.set) : interfacesInGroup(source.vm);
  const names = new Map(source.named.map(({ id }) => [instanceKey(id), id]));
  const unclear: string[] = [];
  const reading = parts.client.readList(
    request,
    noting(unclear, (item) => {
      const shown = readInterface(item, parts.spellings);
      const id = names.get(shown?.instanceId ?? '');
      return shown === undefined || id === undefined ? undefined : { ...shown, instanceId: id };
    }),
    context,
  );
  // Azure does not find the interfaces of a scale set without any VM.
  const noVm = { startedAt: parts.clock.monotonic(), items: [] };
  const { startedAt, items } = (await unlessMissing(reading)) ?? noVm;
  parts.failedModels.noteShown(items);
  const completed = await parts.publicAddresses.complete(items, context);
  // Instances change while pages are read, so one may come twice: a read of its own decides.
  const instances = byInstance(completed).filter((each) => repeatedIn(each) === undefined);
  const placed = instances.map(inPlaces);
  // A listing is confirmed by refreshes where it shows too little.
  const told = (source.isListing ? placed : placed.filter(showsPrimary)).flat();
  const ids = new Set(told.flatMap((each) => (each.kind === 'interface' ? holderOf(each.interface) : [])));
  return { startedAt, observations: told, ...unclearItems(request.operation, unclear, [...ids]) };
}

type Convert = (item: Json) => ShownInterface | undefined;

function noting(unclear: string[], convert: Convert): Convert {
  return (item) => {
    const problem = unclearIn(item);
    if (problem !== undefined) unclear.push(problem);
    return convert(item);
  };
}

function holderOf({ attachment }: Pick<NetworkInterface, 'attachment'>): readonly string[] {
  return attachment === undefined ? [] : [attachment.instanceId];
}

function byInstance(shown: readonly ShownInterface[]): readonly (readonly ShownInterface[])[] {
  return [...Map.groupBy(shown, ({ instanceId }) => instanceId).values()];
}

function repeatedIn(shown: readonly ShownInterface[]): string | undefined {
  return repeated(shown.map(({ id }) => id));
}

/** The interfaces of one instance. */
function placedOnce(
  request: Parameters<typeof unreadable>[0],
  shown: readonly ShownInterface[],
): readonly Observation[] {
  const twice = repeatedIn(shown);
  if (twice !== undefined) throw unreadable(request, `${twice} is shown twice`);
  return inPlaces(shown);
}

/** A list without the primary interface of a VM, which each VM has, may lack more of it. */
function showsPrimary(observations: readonly Observation[]): boolean {
  return observations.some(
    (each) =>
      (each.kind === 'interface' && isPrimaryInterface(each.interface)) ||
      (each.kind === 'unreadableInterface' && isFirstSlot(each.interface)),
  );
}

/** Shows nothing of an instance that is not found: only an answer of its owner says that it is gone. */
export async function readInstance(
  parts: WholeReadParts,
  named: Named,
  context: CallContext,
): Promise<Whole> {
  const { ref } = named;
  const within = { ...context, instanceId: named.id };
  return ref.kind === 'vm'
    ? readStandaloneVm(parts, { ...named, ref }, within)
    : readScaleSetVm(parts, { ...named, ref }, within);
}

async function readScaleSetVm(
  parts: WholeReadParts,
  { id, ref }: Named & { readonly ref: ScaleSetVm },
  context: CallContext,
): Promise<Whole> {
  const { client, spellings, failedModels, publicAddresses } = parts;
  const request = scaleSetVmInterfaces(ref);
  const unclear: string[] = [];
  const convert = noting(unclear, (item) => readInterface(item, spellings));
  const read = await unlessMissing(client.readList(request, convert, context));
  const shown = (read?.items ?? []).filter((item) => item.instanceId === instanceKey(id));
  if (read !== undefined && shown.length > 0) {
    failedModels.noteShown(shown);
    const named = shown.map((item) => ({ ...item, instanceId: id }));
    const completed = await publicAddresses.complete(named, context);
    const observations = placedOnce(request, completed);
    if (!showsPrimary(observations)) throw unreadable(request, 'the primary interface is missing');
    return { startedAt: read.startedAt, observations, ...unclearItems(request.operation, unclear, [id]) };
  }
  const [first] = unclear;
  if (first !== undefined) throw unreadable(request, first);
  const vm = await unlessMissing(client.readOne(scaleSetVm(ref), context));
  if (vm === undefined) return notFound(parts);
  return alone(vm.startedAt, { id, state: stateOf(vm.answer.body), managed: true });
}

/** The interfaces of a standalone VM may be in other groups, so the VM's own list of them is followed. */
async function readStandaloneVm(
  parts: WholeReadParts,
  { id, ref }: Named & { readonly ref: StandaloneVm },
  context: CallContext,
): Promise<Whole> {
  const { client, spellings } = parts;
  const request = standaloneVm(ref);
  const vm = await unlessMissing(client.readOne(request, context));
  if (vm === undefined) return notFound(parts);
  const { startedAt, answer } = vm;
  const links = list(answer.body, 'properties', 'networkProfile', 'networkInterfaces');
  if (links === undefined)
    throw unreadable(request, 'properties.networkProfile.networkInterfaces is missing');
  const shown = await Promise.all(
    links.map((link) => readLinked({ client, spellings }, { id, link }, context)),
  );
  const observations = placedOnce(
    request,
    shown.flatMap((item) => item ?? []),
  );
  const unclear = links.flatMap((link) => unclearIn(link, id) ?? []);
  if (observations.length > 0)
    return { startedAt, observations, ...unclearItems(request.operation, unclear, [id]) };
  return alone(startedAt, { id, state: stateOf(answer.body), managed: true });
}

async function readLinked(
  { client, spellings }: Pick<WholeReadParts, 'client' | 'spellings'>,
  { id, link }: { readonly id: string; readonly link: Json },
  context: CallContext,
): Promise<ShownInterface | undefined> {
  const interfaceId = parseInterfaceId(text(link, 'id') ?? '');
  if (interfaceId === undefined)
    return linkedBy(link, { id, spellings }, 'its VM names it, and it is no interface');
  const read = await unlessMissing(client.readOne(oneInterface(interfaceId), context));
  if (read === undefined)
    return linkedBy(link, { id, spellings }, 'its VM names it, and Azure does not find it');
  const shown = readInterface(read.answer.body, spellings, id);
  return shown?.instanceId === instanceKey(id) ? { ...shown, instanceId: id } : undefined;
}

/** Its VM has it, so nothing that is known of it is gone. */
function linkedBy(
  link: Json,
  { id, spellings }: { readonly id: string; readonly spellings: Spellings },
  problem: string,
): ShownInterface {
  return {
    id: spellings.of(text(link, 'id') ?? ''),
    instanceId: id,
    isPrimary: saidPrimary(link),
    read: { problem },
  };
}

function notFound({ clock }: Pick<WholeReadParts, 'clock'>): Whole {
  return { startedAt: clock.monotonic(), observations: [] };
}

/** Reads the owner of instances. Call it only after none of these instances was found. */
export async function readOwner(
  parts: Pick<WholeReadParts, 'client'>,
  { ref, named }: Owner,
  context: CallContext,
): Promise<Whole> {
  const { startedAt } = await (ref.kind === 'vm'
    ? readGroup(parts, ref, context)
    : parts.client.readOne(scaleSet(ref), context));
  const gone = named.map(({ id }) => ({ id, state: 'terminated', managed: true }) as const);
  return { startedAt, observations: gone.map((instance) => ({ kind: 'instance', instance })) };
}

/** A role with which Headwater lists the interfaces of a group would show it the VMs there. */
async function readGroup(
  { client }: Pick<WholeReadParts, 'client'>,
  vm: StandaloneVm,
  context: CallContext,
): Promise<ReadAnswer> {
  const owner = interfacesInGroup(vm);
  const read = await client.read(owner, context);
  if (list(read.answer.body, 'value') === undefined) throw unreadable(owner, 'value is missing');
  return read;
}

function alone(startedAt: number, instance: Instance): Whole {
  return { startedAt, observations: [{ kind: 'instance', instance }] };
}

/** A VM that is being deleted says so; nothing that it has left is missed. */
function stateOf(vm: Json): Instance['state'] {
  const state = text(vm, 'properties', 'provisioningState')?.toLowerCase();
  return state === 'deleting' ? 'terminating' : 'running';
}

/** ARM does not find what was asked for. Only together with an answer about its owner this shows that it is gone. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof CloudError && policyOf(error.failure).invalidates === 'existence') return undefined;
    throw error;
  }
}
