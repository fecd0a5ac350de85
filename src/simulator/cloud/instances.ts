// Launches, starts, stops and terminates instances. Each change takes time and includes the interfaces.
import { attachedTo, join, newAttachment, part, refuseJoin } from './attachments.ts';
import { nothing } from './claims.ts';
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { filledSlots, typeNamed } from './interface-limits.ts';
import type { InstanceType } from './instance-types.ts';
import { noIpv6 } from './ipv6-claims.ts';
import { createInterface, type InterfaceRequest, removeInterface } from './network-interfaces.ts';
import {
  type Attachment,
  type Instance,
  type InstanceState,
  type NetworkInterface,
  type Tags,
  withAttachment,
} from './records.ts';
import { refuseTags } from './tags.ts';

/** An interface of a launch: an existing one, or a new one. */
export type LaunchInterface = {
  readonly deviceIndex: number;
  readonly cardIndex: number;
  readonly deleteOnTermination: boolean;
} & (
  | { readonly kind: 'existing'; readonly interfaceId: string }
  | { readonly kind: 'new'; readonly request: InterfaceRequest }
);

export interface LaunchRequest {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly reservationId: string;
  readonly launchIndex: number;
  readonly type: string;
  readonly imageId: string;
  readonly clientToken?: string | undefined;
  /** The one at device index 0 is the primary interface. */
  readonly interfaces: readonly LaunchInterface[];
  readonly tags: Tags;
}

export interface StateChange {
  readonly id: string;
  readonly before: InstanceState;
  readonly after: InstanceState;
}

/** Launches one instance with its interfaces, or refuses and leaks nothing. */
export function launch(network: CloudNetwork, request: LaunchRequest): Instance {
  const type = typeNamed(network, request.type);
  refuseTags({}, request.tags);
  const made: NetworkInterface[] = [];
  try {
    const parts = request.interfaces.map((plan) => ({
      plan,
      record: interfaceFor(network, plan, type, made),
    }));
    const primary = parts.find(({ plan }) => plan.deviceIndex === 0 && plan.cardIndex === 0)?.record;
    if (primary === undefined) throw new Error('an instance was launched without a primary interface');
    const instance = newInstance(network, request, primary);
    const attachments = attachmentsOf(network, instance, parts);
    network.put('instances', instance);
    for (const { record, attachment } of attachments) join(network, record, attachment);
    network.after(network.times.startMs, () => advance(network, instance.id, 'pending', 'running'));
    return network.instances.get(instance.id) ?? instance;
  } catch (refusal) {
    made.forEach((record) => removeInterface(network, record));
    throw refusal;
  }
}

/** Undoes a launch, with every interface created for it. */
export function undoLaunch(network: CloudNetwork, id: string): void {
  const instance = network.instances.get(id);
  if (instance === undefined) return;
  for (const record of attachedTo(network, instance)) removeInterface(network, record);
  network.delete('instances', id);
}

/** Starts termination; a terminated instance stays visible for a while. Repeating it changes nothing. */
export function terminate(network: CloudNetwork, ids: readonly string[]): readonly StateChange[] {
  return changeAll(network, ids, (instance) => {
    if (instance.state === 'terminated' || instance.state === 'shutting-down') return instance.state;
    for (const record of attachedTo(network, instance)) markDetaching(network, record);
    enter(network, instance.id, 'shutting-down');
    network.after(network.times.terminateMs, () => end(network, instance.id));
    return 'shutting-down';
  });
}

/** Starts to stop running instances; their interfaces keep their addresses. */
export function stop(network: CloudNetwork, ids: readonly string[]): readonly StateChange[] {
  return changeAll(network, ids, (instance) => {
    if (instance.state === 'stopped' || instance.state === 'stopping') return instance.state;
    if (instance.state !== 'running') return refuseState(instance);
    enter(network, instance.id, 'stopping');
    network.after(network.times.stopMs, () => advance(network, instance.id, 'stopping', 'stopped'));
    return 'stopping';
  });
}

/** Starts stopped instances. */
export function start(network: CloudNetwork, ids: readonly string[]): readonly StateChange[] {
  return changeAll(network, ids, (instance) => {
    if (instance.state === 'running' || instance.state === 'pending') return instance.state;
    if (instance.state !== 'stopped') return refuseState(instance);
    enter(network, instance.id, 'pending');
    network.after(network.times.startMs, () => advance(network, instance.id, 'pending', 'running'));
    return 'pending';
  });
}

/** A request for a plain new interface in a subnet. */
export function plainInterface(subnetId: string, groupIds: readonly string[]): InterfaceRequest {
  const rest = { description: '', tags: {} };
  return { subnetId, claim: nothing, ipv6: noIpv6, type: 'interface', groupIds, ...rest };
}

function interfaceFor(
  network: CloudNetwork,
  plan: LaunchInterface,
  type: InstanceType,
  made: NetworkInterface[],
): NetworkInterface {
  if (plan.kind === 'existing') {
    const record = network.find('interfaces', plan.interfaceId);
    if (record.attachment !== undefined) refuse({ kind: 'alreadyAttached', interfaceId: record.id });
    return record;
  }
  const { count, addresses, prefixCount, prefixes } = plan.request.claim;
  if (count + addresses.length + prefixCount + prefixes.length >= type.ipv4PerInterface) {
    refuse({ kind: 'launchAddressLimit', type: type.name, limit: type.ipv4PerInterface });
  }
  const record = createInterface(network, plan.request);
  made.push(record);
  return record;
}

function newInstance(network: CloudNetwork, request: LaunchRequest, primary: NetworkInterface): Instance {
  const { id = network.newId('i'), name, clientToken, interfaces: _, ...rest } = request;
  return {
    ...rest,
    id,
    ...(name === undefined ? {} : { name }),
    ...(clientToken === undefined ? {} : { clientToken }),
    state: network.started ? 'pending' : 'running',
    launchTime: network.clock.wall(),
    vpcId: primary.vpcId,
    subnetId: primary.subnetId,
    zone: primary.zone,
    interfaceIds: [],
    primaryAddress: primary.primaryAddress,
  };
}

/** The attachments of a launch; refuses if one of them is refused. */
function attachmentsOf(
  network: CloudNetwork,
  instance: Instance,
  parts: readonly { readonly plan: LaunchInterface; readonly record: NetworkInterface }[],
): readonly { readonly record: NetworkInterface; readonly attachment: Attachment }[] {
  const attached: NetworkInterface[] = [];
  return parts.map(({ plan, record }) => {
    const limit = typeNamed(network, instance.type).ipv4PerInterface;
    if (filledSlots(record) > limit) refuse({ kind: 'launchAddressLimit', type: instance.type, limit });
    refuseJoin(network, { record, instance, attached }, plan);
    const attachment = newAttachment(network, instance.id, plan);
    attached.push(withAttachment(record, attachment));
    return { record, attachment };
  });
}

function markDetaching(network: CloudNetwork, record: NetworkInterface): void {
  const { attachment } = record;
  if (attachment === undefined) return;
  network.put('interfaces', withAttachment(record, { ...attachment, status: 'detaching' }));
}

/** Ends the instance: its interfaces are deleted or remain detached, and its record disappears later. */
function end(network: CloudNetwork, id: string): void {
  const instance = network.instances.get(id);
  if (instance === undefined) return;
  for (const record of attachedTo(network, instance)) {
    if (record.attachment === undefined) continue;
    part(network, record.id, record.attachment.id);
    const parted = network.interfaces.get(record.id);
    if (record.attachment.deleteOnTermination && parted !== undefined) removeInterface(network, parted);
  }
  enter(network, id, 'terminated');
  network.after(network.times.terminatedVisibleMs, () => network.delete('instances', id));
}

function changeAll(
  network: CloudNetwork,
  ids: readonly string[],
  change: (instance: Instance) => InstanceState,
): readonly StateChange[] {
  const instances = ids.map((id) => network.find('instances', id));
  return instances.map((instance) => ({ id: instance.id, before: instance.state, after: change(instance) }));
}

function advance(network: CloudNetwork, id: string, from: InstanceState, to: InstanceState): void {
  if (network.instances.get(id)?.state === from) enter(network, id, to);
}

function enter(network: CloudNetwork, id: string, state: InstanceState): void {
  const instance = network.instances.get(id);
  if (instance !== undefined) network.put('instances', { ...instance, state });
}

function refuseState(instance: Instance): never {
  return refuse({ kind: 'instanceState', instanceId: instance.id, state: instance.state });
}
