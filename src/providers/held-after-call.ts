// How an answer to a call of our own changes what is held of an interface. Such an answer is known for sure, unlike a
// reading: `endedAt` is when it came, and readings that began before need not show it.
import type { HeldInterface } from './held-interface.ts';
import { addressesOf } from './ipv4.ts';
import type { Attachment } from './network-interface.ts';
import type { Answer } from './observation.ts';

export type Attached = Extract<Answer, { kind: 'attached' }>;
export type Allocated = Extract<Answer, { kind: 'allocated' }>;

export function whenAttached(held: HeldInterface, answer: Attached, endedAt: number): HeldInterface {
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
  return { ...held, record, asOf: endedAt, joinedAt: endedAt, absentSince: undefined, unlisted: false };
}

export function whenAllocated(held: HeldInterface, answer: Allocated, endedAt: number): HeldInterface {
  const { record } = held;
  const prefixes = [...new Set([...record.prefixes, ...answer.prefixes])];
  // Some EC2 look-alikes answer with every address of the interface, whatever it came by.
  const known = new Set([record.primaryAddress, ...prefixes.flatMap(addressesOf)]);
  const given = answer.addresses.filter((address) => !known.has(address));
  const addresses = [...new Set([...record.addresses, ...given])];
  const brought = [...given, ...answer.prefixes];
  return {
    ...held,
    record: { ...record, addresses, prefixes },
    added: withAll(held.added, brought, endedAt),
    released: without(held.released, brought),
    missing: without(held.missing, brought),
    unlistedHoldings: lacking(held.unlistedHoldings, brought),
    unseen: lacking(held.unseen, brought),
  };
}

export function whenReleased(
  held: HeldInterface,
  holdings: readonly string[],
  endedAt: number,
): HeldInterface {
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
    missing: without(held.missing, holdings),
    unlistedHoldings: lacking(held.unlistedHoldings, holdings),
    unseen: lacking(held.unseen, holdings),
  };
}

function lacking(all: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> {
  return all.size === 0 ? all : new Set([...all].filter((each) => !gone.includes(each)));
}

export function whenGivenPublicAddress(
  held: HeldInterface,
  publicAddress: string,
  endedAt: number,
): HeldInterface {
  const record = { ...held.record, publicAddress };
  return { ...held, record, added: withAll(held.added, [publicAddress], endedAt) };
}

/** Its attachment changed in this way, if it has one. */
export function withAttachment(
  held: HeldInterface,
  change: Partial<Pick<Attachment, 'state' | 'deleteOnTermination'>>,
): HeldInterface {
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
