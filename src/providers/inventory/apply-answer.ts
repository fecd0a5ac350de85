// Applies the answer to one of our own calls to an interface record. Unlike a read, such an answer is certain.
// `endedAt` is when it arrived; reads that began earlier need not show its effect.
import { whenElsewhere } from './apply-reading.ts';
import type { InterfaceRecord } from './interface-record.ts';
import { expandBlock } from '../contract/ipv4.ts';
import type { Attachment } from '../contract/network-interface.ts';
import type { Answer } from '../contract/observation.ts';

export type Attached = Extract<Answer, { kind: 'attached' }>;
type Allocated = Extract<Answer, { kind: 'allocated' }>;

/** Answers that change an interface in place. */
export type Change = Exclude<Answer, { kind: 'created' | 'attached' | 'notFound' | 'deleted' }>;

export function whenChanged(held: InterfaceRecord, answer: Change, endedAt: number): InterfaceRecord {
  switch (answer.kind) {
    case 'allocated':
      return whenAllocated(held, answer, endedAt);
    case 'released':
      return whenReleased(held, answer.holdings, endedAt);
    case 'releasing':
      return { ...held, releasing: withAll(held.releasing, answer.holdings, answer.until) };
    case 'detached':
      // A later refresh without the interface confirms the detach.
      return { ...whenElsewhere(withAttachment(held, { state: 'detaching' }), endedAt), unclear: 'all' };
    case 'staticIPAssociated':
      return applyPublicAddress(held, answer.publicAddress, endedAt);
    case 'deleteOnTerminationSet':
      return withAttachment(held, { deleteOnTermination: true });
  }
}

export function whenAttached(held: InterfaceRecord, answer: Attached, endedAt: number): InterfaceRecord {
  const { instanceId, deviceIndex, attachmentId } = answer;
  const attachment: Attachment = {
    id: attachmentId,
    instanceId,
    deviceIndex,
    networkCard: 0,
    state: 'attached',
    deleteOnTermination: held.record.attachment?.deleteOnTermination ?? false,
  };
  const record = { ...held.record, attachment };
  return {
    ...held,
    record,
    asOf: endedAt,
    joinedAt: endedAt,
    awaited: isSeenAttached(held, attachmentId) ? undefined : { since: endedAt, attachmentId },
    absentSince: undefined,
    proven: withoutAny(held.proven, [record.id]),
    unclear: 'nothing',
    elsewhereAt: undefined,
  };
}

/** Whether a read showed this very attachment in place before the answer to our call arrived. */
function isSeenAttached({ record, awaited }: InterfaceRecord, attachmentId: string): boolean {
  const { attachment } = record;
  return awaited === undefined && attachment?.id === attachmentId && attachment.state === 'attached';
}

function whenAllocated(held: InterfaceRecord, answer: Allocated, endedAt: number): InterfaceRecord {
  const { record } = held;
  const prefixes = [...new Set([...record.prefixes, ...answer.prefixes])];
  // Some cloud emulators answer with every address of the interface, including those of its prefixes.
  const known = new Set([record.primaryAddress, ...prefixes.flatMap(expandBlock)]);
  const given = answer.addresses.filter((address) => !known.has(address));
  const addresses = [...new Set([...record.addresses, ...given])];
  const brought = [...given, ...answer.prefixes];
  return {
    ...held,
    record: { ...record, addresses, prefixes },
    added: withAll(held.added, brought, endedAt),
    released: without(held.released, brought),
    releasing: without(held.releasing, brought),
    missing: without(held.missing, brought),
    proven: withoutAny(held.proven, brought),
    unlistedHoldings: withoutAny(held.unlistedHoldings, brought),
    unseen: withoutAny(held.unseen, brought),
  };
}

export function whenReleased(
  held: InterfaceRecord,
  holdings: readonly string[],
  endedAt: number,
): InterfaceRecord {
  const { record } = held;
  const gone = new Set(holdings);
  const stays = (holding: string): boolean => !gone.has(holding);
  const addresses = record.addresses.filter(stays);
  const prefixes = record.prefixes.filter(stays);
  return {
    ...held,
    record: { ...record, addresses, prefixes },
    added: without(held.added, holdings),
    released: withAll(held.released, holdings, endedAt),
    releasing: without(held.releasing, holdings),
    missing: without(held.missing, holdings),
    proven: withoutAny(held.proven, holdings),
    unlistedHoldings: withoutAny(held.unlistedHoldings, holdings),
    unseen: withoutAny(held.unseen, holdings),
  };
}

/**
 * Removes an address that another interface holds. If it belongs to a prefix, the prefix is gone too and its other
 * addresses become missing.
 */
export function withoutAddress(held: InterfaceRecord, address: string, endedAt: number): InterfaceRecord {
  const { record } = held;
  const prefix = record.prefixes.find((each) => expandBlock(each).includes(address));
  if (prefix === undefined) return whenReleased(held, [address], endedAt);
  const others = expandBlock(prefix).filter((each) => each !== address);
  const rest = whenReleased(held, [prefix], endedAt);
  return {
    ...rest,
    record: { ...rest.record, addresses: [...rest.record.addresses, ...others] },
    released: withAll(rest.released, [address], endedAt),
    missing: withAll(rest.missing, others, endedAt),
  };
}

function withoutAny(all: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> {
  return all.size === 0 ? all : new Set([...all].filter((each) => !gone.includes(each)));
}

function applyPublicAddress(held: InterfaceRecord, publicAddress: string, endedAt: number): InterfaceRecord {
  const record = { ...held.record, publicAddress };
  return { ...held, record, added: withAll(held.added, [publicAddress], endedAt) };
}

/** Changes the attachment, if the interface has one. */
function withAttachment(
  held: InterfaceRecord,
  change: Partial<Pick<Attachment, 'state' | 'deleteOnTermination'>>,
): InterfaceRecord {
  const { attachment } = held.record;
  if (attachment === undefined) return held;
  return { ...held, record: { ...held.record, attachment: { ...attachment, ...change } } };
}

type Times = ReadonlyMap<string, number>;

function withAll(times: Times, holdings: readonly string[], at: number): Times {
  return new Map([...times, ...holdings.map((holding) => [holding, at] as const)]);
}

function without(times: Times, holdings: readonly string[]): Times {
  const gone = new Set(holdings);
  return new Map([...times].filter(([holding]) => !gone.has(holding)));
}
