// Where the addresses of this node come from with the CRD allocator: the pool of its CiliumNode offers them, its status shows
// their interfaces, and status.ipam says which are in use and which may go.
import type { CloudMode } from '../../config/clouds/clouds.ts';
import { addressText, families, type Family, familyOf, parseAddress } from '../../blocks/set/cidr.ts';
import { isObject, type Json, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import {
  CrdAllocator,
  type Offer,
  type OfferedAddress,
  type ShownInterface,
} from '../allocators/crd-allocator.ts';
import { shownInterfaces } from './shown-interfaces.ts';
import { mapPatch, type NodePatches, WritingSource, type WritingSourceOptions } from './writing-source.ts';
import { type ReleaseState, releaseStates } from '../../kubernetes/cilium-node/cilium-node.ts';

/** The names of each family in spec.ipam and status.ipam. */
const fields = {
  ipv4: { pool: 'pool', used: 'used', releasing: 'release-ips' },
  ipv6: { pool: 'ipv6-pool', used: 'ipv6-used', releasing: 'release-ipv6s' },
} as const;

export class OfferedAddresses extends WritingSource {
  readonly #mode: CloudMode | 'crd';
  readonly #allocators = new Map<Family, CrdAllocator>();
  #problem = '';

  /** `mode`: addresses of the mode `crd` belong to no interface that the status shows. */
  constructor(mode: CloudMode | 'crd', options: WritingSourceOptions) {
    super(options, 'spec.ipam.pool');
    this.#mode = mode;
  }

  refresh(): void {
    // Nothing of it depends on pools.
  }

  protected take(raw: JsonObject): void {
    const { ipam } = this.options;
    const mode = this.#mode;
    const interfaces =
      mode === 'crd' ? undefined : new Map(shownInterfaces(mode, raw).map((each) => [each.id, each]));
    for (const family of families) this.#offer(family, raw, interfaces);
    ipam.retry();
    this.update();
  }

  #offer(family: Family, raw: JsonObject, interfaces: ReadonlyMap<string, ShownInterface> | undefined): void {
    const { ipam, surroundings } = this.options;
    const pool = valueAt(raw, 'spec', 'ipam', fields[family].pool);
    const known = this.#allocators.get(family);
    if (known === undefined && (!isObject(pool) || Object.keys(pool).length === 0)) return;
    const offer: Offer = { addresses: this.#addresses(family, raw, pool), interfaces };
    if (known !== undefined) known.take(offer);
    else {
      const allocator = new CrdAllocator(family, offer, surroundings.random.fork(family));
      this.#allocators.set(family, allocator);
      ipam.serve(allocator);
    }
  }

  #addresses(family: Family, raw: JsonObject, pool: Json | undefined): ReadonlyMap<bigint, OfferedAddress> {
    const states = valueAt(raw, 'status', 'ipam', fields[family].releasing);
    const stateOf = (ip: string): Json | undefined => valueAt(states, ip);
    const entries = isObject(pool) ? Object.entries(pool) : [];
    const read = entries.map(([ip, entry]) => ({ ip, entry, address: parseAddress(ip) }));
    const strange = read.find(({ address, entry }) => address?.family !== family || !isObject(entry));
    this.#tell(
      strange === undefined ? '' : `spec.ipam.${fields[family].pool} holds ${strange.ip.slice(0, 80)}`,
    );
    return new Map(
      read.flatMap(({ ip, entry, address }): (readonly [bigint, OfferedAddress])[] => {
        if (address?.family !== family || !isObject(entry)) return [];
        const [resource, owner] = [textAt(entry, 'resource') ?? '', textAt(entry, 'owner') ?? ''];
        return [[address.value, { resource, owner, isLeaving: isLeaving(stateOf(ip)) }]];
      }),
    );
  }

  #tell(problem: string): void {
    if (problem !== '' && problem !== this.#problem)
      this.options.surroundings.log.warn('an entry of the pool is no address: it is left out', { problem });
    if (problem !== '') this.#problem = problem;
  }

  protected beforeSpec(): undefined {
    // No spec is written.
  }

  protected patches(raw: JsonObject): NodePatches {
    if (this.options.ipam.holdings.isRebuilding) return {};
    const parts = families.map((family) => this.#statusPart(family, raw));
    const ipam = Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
    return Object.keys(ipam).length === 0 ? {} : { status: { ipam } };
  }

  #statusPart(family: Family, raw: JsonObject): JsonObject {
    const { used, releasing } = fields[family];
    const shown = valueAt(raw, 'status', 'ipam', used);
    const usedPatch = mapPatch(shown, this.#used(family, raw, shown));
    const answers = handshakeAnswers(valueAt(raw, 'status', 'ipam', releasing), (ip) =>
      this.#whereabouts(raw, ip),
    );
    return {
      ...(usedPatch !== undefined && { [used]: usedPatch }),
      ...(answers.size > 0 && { [releasing]: Object.fromEntries(answers) }),
    };
  }

  /** Addresses that are held, and those never given out, with the interface that each address is or was last of. */
  #used(family: Family, raw: JsonObject, shown: Json | undefined): JsonObject {
    const { ipam } = this.options;
    const pool = valueAt(raw, 'spec', 'ipam', fields[family].pool);
    const excluded = (isObject(pool) ? Object.keys(pool) : []).flatMap((ip) => {
      const owner = ipam.pools.excluderOf({ pool: ipam.pools.defaultPool, ip });
      return owner === undefined ? [] : [[ip, owner] as const];
    });
    const held = [...ipam.holdings.held()].map(({ ip, owner }) => [ip, owner] as const);
    return Object.fromEntries(
      [...excluded, ...held]
        .filter(([ip]) => familyOf(ip) === family)
        .map(([ip, owner]) => {
          const resource = textAt(pool, ip, 'resource') ?? textAt(shown, ip, 'resource') ?? '';
          return [ip, { owner, ...(resource !== '' && { resource }) }];
        }),
    );
  }

  #whereabouts(raw: JsonObject, text: string): Whereabouts {
    const address = parseAddress(text);
    if (address === undefined) return { isOffered: false, isTaken: false };
    const { family, value } = address;
    const pool = valueAt(raw, 'spec', 'ipam', fields[family].pool);
    const isOffered = [text, addressText(address)].some((ip) => valueAt(pool, ip) !== undefined);
    return { isOffered, isTaken: this.#allocators.get(family)?.isTaken(value) === true };
  }
}

/**
 * Where an address is that the controller marks in status.ipam.release-ips: the agent answers whether it may go, the controller
 * takes it from the cloud and from the pool, and the agent deletes the entry.
 */
export interface Whereabouts {
  /** In the pool of the CiliumNode. */
  readonly isOffered: boolean;
  readonly isTaken: boolean;
}

/** States in which no pod may get the address. */
const leaving: readonly ReleaseState[] = ['marked-for-release', 'ready-for-release', 'released'];

/** Whether an address of this state is in hand-over. What is no state counts as one: someone means to release it. */
export function isLeaving(state: Json | undefined): boolean {
  if (state === undefined || state === null) return false;
  return leaving.some((each) => each === state) || !releaseStates.some((each) => each === state);
}

/** The answer of the agent to each entry that awaits it; null deletes the entry. */
export function handshakeAnswers(
  shown: Json | undefined,
  whereabouts: (ip: string) => Whereabouts,
): ReadonlyMap<string, ReleaseState | null> {
  if (!isObject(shown)) return new Map();
  return new Map(
    Object.entries(shown).flatMap(([ip, state]): (readonly [string, ReleaseState | null])[] => {
      const answer = answerTo(state, whereabouts(ip));
      return answer === undefined ? [] : [[ip, answer]];
    }),
  );
}

function answerTo(state: Json, { isOffered, isTaken }: Whereabouts): ReleaseState | null | undefined {
  if (state === 'marked-for-release') return isOffered && !isTaken ? 'ready-for-release' : 'do-not-release';
  return state === 'released' && !isOffered ? null : undefined;
}
