// The subnets of the interfaces that were seen. Each is read by itself, so no permission on whole virtual networks is
// needed, and one that cannot be read leaves the others known.
import type { CallContext } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { KnownNetwork, Subnet } from '../contract/infrastructure.ts';
import { contains, parseAddress, parseBlock, sizeOf } from '../contract/ipv4.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ArmAnswer, list, text } from './arm-api.ts';
import { type ArmClient, unreadable } from './arm-client.ts';
import { parseSubnetId, type SubnetRef } from './ids.ts';
import { subnet as requestOf } from './requests.ts';

/** The first four addresses of each prefix of a subnet, and its last. */
const reserved = 5;

export interface ReadSubnets extends KnownNetwork {
  /** When the first was requested, in monotonic ms. */
  readonly startedAt: number;
  readonly subnets: ReadonlyMap<string, Subnet>;
  readonly unreadSubnets: ReadonlyMap<string, CloudFailure>;
}

export class Subnets {
  readonly #client: ArmClient;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, SubnetRef>();
  /** Subnets that were read at least once. */
  readonly #read = new Set<string>();

  constructor(client: ArmClient, clock: Pick<Clock, 'monotonic'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** `ids`: in the one spelling of each. Anything else is no subnet. */
  note(ids: Iterable<string>): void {
    for (const id of ids) {
      const ref = this.#known.has(id) ? undefined : parseSubnetId(id);
      if (ref !== undefined) this.#known.set(id, ref);
    }
  }

  /** Subnets that were seen and never read. */
  get news(): readonly string[] {
    return [...this.#known.keys()].filter((id) => !this.#read.has(id));
  }

  /** The subnets of these networks. */
  in(networkIds: readonly string[]): readonly string[] {
    const keys = new Set(networkIds.map((id) => id.toLowerCase()));
    return [...this.#known].flatMap(([id, ref]) => (keys.has(ref.networkId.toLowerCase()) ? [id] : []));
  }

  /** Rejects with a CloudError only if not one of them could be read. */
  async read(ids: readonly string[], context: CallContext): Promise<ReadSubnets> {
    const read = await this.readEach(ids, context);
    const [first] = read.unreadSubnets.values();
    if (first !== undefined && read.subnets.size === 0) throw new CloudError(first);
    return read;
  }

  /** Names the reason of each that cannot be read, also if none can. */
  async readEach(ids: readonly string[], context: CallContext): Promise<ReadSubnets> {
    const results = await Promise.all(ids.map((id) => this.#readOne(id, context)));
    const failed = results.flatMap((result) => ('failure' in result ? [result] : []));
    const subnets = results.flatMap((result) => ('subnet' in result ? [result.subnet] : []));
    for (const { id } of subnets) this.#read.add(id);
    return {
      startedAt: Math.min(...results.map(({ startedAt }) => startedAt), this.#clock.monotonic()),
      subnets: new Map(subnets.map((subnet) => [subnet.id, subnet])),
      // The parts of a network are not read: only the blocks of its subnets matter.
      networks: new Map(subnets.map(({ networkId: id }) => [id, { id, primaryCidr: '', cidrs: [] }])),
      unreadSubnets: new Map(failed.map(({ id, failure }) => [id, failure])),
    };
  }

  async #readOne(id: string, context: CallContext): Promise<ReadSubnet> {
    const ref = this.#known.get(id);
    if (ref === undefined) throw new Error(`${id} was never seen`);
    const request = requestOf(ref);
    try {
      const { startedAt, answer } = await this.#client.read(request, context);
      const read = readSubnet(id, ref.networkId, answer);
      if ('problem' in read) throw unreadable(request, read.problem);
      return { id, startedAt, subnet: read.subnet };
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      return { id, startedAt: Infinity, failure: error.failure };
    }
  }
}

type ReadSubnet = { readonly id: string; readonly startedAt: number } & (
  | { readonly subnet: Subnet }
  | { readonly failure: CloudFailure }
);

/** Azure leaves the list of configurations out for a subnet that has none. */
export function readSubnet(
  id: string,
  networkId: string,
  { body, count }: Pick<ArmAnswer, 'body' | 'count'>,
): { readonly subnet: Subnet } | { readonly problem: string } {
  const named = text(body, 'id');
  if (named?.toLowerCase() !== id.toLowerCase())
    return { problem: `the answer is about ${named ?? 'nothing'}` };
  const shown = cidrsOf(body);
  const [cidr, ...otherCidrs] = shown.filter((each) => parseBlock(each) !== undefined);
  if (cidr === undefined) return { problem: `${JSON.stringify(shown[0] ?? '')} is not an IPv4 block` };
  const usable = [cidr, ...otherCidrs].reduce((sum, each) => sum + usableIn(each), 0);
  const freeAddresses = Math.max(0, usable - (count ?? 0));
  return {
    subnet: {
      id,
      name: named.split('/').at(-1) ?? '',
      cidr,
      ...(otherCidrs.length > 0 && { otherCidrs }),
      networkId,
      zone: '',
      tags: {},
      freeAddresses,
      eligible: true,
    },
  };
}

function usableIn(cidr: string): number {
  const block = parseBlock(cidr);
  return block === undefined ? 0 : Math.max(0, sizeOf(block) - reserved);
}

/** A subnet has one prefix, or a list of any number of each family, in any order. */
function cidrsOf(body: ArmAnswer['body']): readonly string[] {
  const several = list(body, 'properties', 'addressPrefixes') ?? [];
  return [...new Set([text(body, 'properties', 'addressPrefix') ?? [], ...several.map(String)].flat())];
}

/** The prefix of a subnet that an interface is in: the one that holds its primary address. */
export function prefixAround({ cidr, otherCidrs = [] }: Subnet, primaryAddress: string): string {
  const address = parseAddress(primaryAddress);
  if (address === undefined) return cidr;
  const holds = (each: string): boolean => {
    const block = parseBlock(each);
    return block !== undefined && contains(block, address);
  };
  return [cidr, ...otherCidrs].find(holds) ?? cidr;
}
