// Applies the answer to one of our own calls to an interface record. Unlike a read, such an answer is certain.
// `endedAt` is when it arrived; reads that began earlier need not show its effect.
import { whenElsewhere } from './apply-reading.ts';
import type { InterfaceRecord } from './interface-record.ts';
import { expandBlock } from '../contract/ipv4.ts';
import {
  type Attachment,
  type NetworkInterface,
  onlyWith,
  withAssignments,
} from '../contract/network-interface.ts';
import type { Answer } from '../contract/operations.ts';

export type Attached = Extract<Answer, { kind: 'attached' }>;
type Allocated = Extract<Answer, { kind: 'allocated' }>;

/** Answers that change an interface in place. */
export type Change = Exclude<Answer, { kind: 'created' | 'attached' | 'notFound' | 'deleted' }>;

export function whenChanged(record: InterfaceRecord, answer: Change, endedAt: number): InterfaceRecord {
  switch (answer.kind) {
    case 'allocated':
      return whenAllocated(record, answer, endedAt);
    case 'released':
      return whenReleased(record, answer.holdings, endedAt);
    case 'releasing':
      return { ...record, releasing: withAll(record.releasing, answer.holdings, answer.until) };
    case 'detached':
      // A later refresh without the interface confirms the detach.
      return { ...whenElsewhere(withAttachment(record, { state: 'detaching' }), endedAt), unclear: 'all' };
    case 'staticIPAssociated':
      return applyPublicAddress(record, answer.publicAddress, endedAt);
    case 'deleteOnTerminationSet':
      return withAttachment(record, { deleteOnTermination: true });
  }
}

export function whenAttached(record: InterfaceRecord, answer: Attached, endedAt: number): InterfaceRecord {
  const { instanceId, deviceIndex, attachmentId } = answer;
  const attachment: Attachment = {
    id: attachmentId,
    instanceId,
    deviceIndex,
    networkCard: 0,
    state: 'attached',
    deleteOnTermination: record.interface.attachment?.deleteOnTermination ?? false,
  };
  const item = { ...record.interface, attachment };
  return {
    ...record,
    interface: item,
    asOf: endedAt,
    joinedAt: endedAt,
    awaited: isSeenAttached(record, attachmentId)
      ? undefined
      : { attachmentId, since: endedAt, isOverdue: false },
    absentSince: undefined,
    proven: withoutAny(record.proven, [item.id]),
    unclear: 'nothing',
    elsewhereAt: undefined,
  };
}

/** Whether a read showed this very attachment in place before the answer to our call arrived. */
function isSeenAttached({ interface: item, awaited }: InterfaceRecord, attachmentId: string): boolean {
  const { attachment } = item;
  return awaited === undefined && attachment?.id === attachmentId && attachment.state === 'attached';
}

function whenAllocated(record: InterfaceRecord, answer: Allocated, endedAt: number): InterfaceRecord {
  const item = whenReady(record.interface);
  const { ipv6Prefixes = [] } = answer;
  const prefixes = [...new Set([...item.prefixes, ...answer.prefixes])];
  // Some cloud emulators answer with every address of the interface, including those of its prefixes.
  const known = new Set([item.primaryAddress, ...prefixes.flatMap(expandBlock)]);
  const given = answer.addresses.filter((address) => !known.has(address));
  const addresses = [...new Set([...item.addresses, ...given])];
  const brought = [...given, ...answer.prefixes, ...ipv6Prefixes];
  return {
    ...record,
    interface: withAssignments({ ...item, addresses, prefixes }, (known, kind) =>
      kind === 'ipv6Prefixes' ? [...new Set([...known, ...ipv6Prefixes])] : known,
    ),
    added: withAll(record.added, brought, endedAt),
    released: without(record.released, brought),
    releasing: without(record.releasing, brought),
    missing: without(record.missing, brought),
    proven: withoutAny(record.proven, brought),
    unlistedHoldings: withoutAny(record.unlistedHoldings, brought),
    unseen: withoutAny(record.unseen, brought),
  };
}

/** A change that a read saw under way has ended with the answer to our own call. */
function whenReady(item: NetworkInterface): NetworkInterface {
  if (item.condition !== 'changing') return item;
  const { condition: _, ...ready } = item;
  return ready;
}

export function whenReleased(
  record: InterfaceRecord,
  holdings: readonly string[],
  endedAt: number,
): InterfaceRecord {
  const { interface: item } = record;
  const gone = new Set(holdings);
  const stays = (holding: string): boolean => !gone.has(holding);
  return {
    ...record,
    interface: onlyWith(item, stays),
    added: without(record.added, holdings),
    released: withAll(record.released, holdings, endedAt),
    releasing: without(record.releasing, holdings),
    missing: without(record.missing, holdings),
    proven: withoutAny(record.proven, holdings),
    unlistedHoldings: withoutAny(record.unlistedHoldings, holdings),
    unseen: withoutAny(record.unseen, holdings),
  };
}

/**
 * Removes an address that another interface holds. If it belongs to a prefix, the prefix is gone too and its other
 * addresses become missing.
 */
export function withoutAddress(record: InterfaceRecord, address: string, endedAt: number): InterfaceRecord {
  const { interface: item } = record;
  const prefix = item.prefixes.find((each) => expandBlock(each).includes(address));
  if (prefix === undefined) return whenReleased(record, [address], endedAt);
  const others = expandBlock(prefix).filter((each) => each !== address);
  const rest = whenReleased(record, [prefix], endedAt);
  return {
    ...rest,
    interface: { ...rest.interface, addresses: [...rest.interface.addresses, ...others] },
    released: withAll(rest.released, [address], endedAt),
    missing: withAll(rest.missing, others, endedAt),
  };
}

function withoutAny(all: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> {
  return all.size === 0 ? all : new Set([...all].filter((each) => !gone.includes(each)));
}

function applyPublicAddress(
  record: InterfaceRecord,
  publicAddress: string,
  endedAt: number,
): InterfaceRecord {
  const item = { ...record.interface, publicAddress };
  return { ...record, interface: item, added: withAll(record.added, [publicAddress], endedAt) };
}

/** Changes the attachment, if the interface has one. */
function withAttachment(
  record: InterfaceRecord,
  change: Partial<Pick<Attachment, 'state' | 'deleteOnTermination'>>,
): InterfaceRecord {
  const { attachment } = record.interface;
  if (attachment === undefined) return record;
  return { ...record, interface: { ...record.interface, attachment: { ...attachment, ...change } } };
}

type Times = ReadonlyMap<string, number>;

function withAll(times: Times, holdings: readonly string[], at: number): Times {
  return new Map([...times, ...holdings.map((holding) => [holding, at] as const)]);
}

function without(times: Times, holdings: readonly string[]): Times {
  const gone = new Set(holdings);
  return new Map([...times].filter(([holding]) => !gone.has(holding)));
}
