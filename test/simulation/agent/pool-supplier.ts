// Gives the node blocks of the pool `default` for the counts that it asks for. A block that the agent takes from its list may go to
// another node at once.
import type { Family } from '../../../src/cidr/set/cidr.ts';
import { isObject, type JsonObject, listAt, textsAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { type Ask, type Blocks, isInside, ownPath, type Supplier } from './supplier.ts';

/** Addresses of a block, without its ends. */
const usable = 6;

const forms: Readonly<Record<Family, { readonly block: (index: number) => string; readonly count: string }>> =
  {
    ipv4: { block: (index) => `10.7.${index}.0/29`, count: 'ipv4-addrs' },
    ipv6: { block: (index) => `fd07:0:0:${index.toString(16)}::/125`, count: 'ipv6-addrs' },
  };

export class PoolSupplier implements Supplier {
  readonly #families: readonly Family[];
  /** Of each family: the next block is one that the node did not have before. */
  #next = 0;

  constructor({ families }: Blocks) {
    this.#families = families;
  }

  async setUp(ask: Ask): Promise<void> {
    const spec = {
      ...(this.#families.includes('ipv4') && { ipv4: { cidrs: ['10.7.0.0/16'], maskSize: 29 } }),
      ...(this.#families.includes('ipv6') && { ipv6: { cidrs: ['fd07::/48'], maskSize: 125 } }),
    };
    await ask('POST', '/apis/cilium.io/v2alpha1/ciliumpodippools', {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name: 'default' },
      spec,
    });
  }

  async step(object: JsonObject, ask: Ask): Promise<void> {
    const cidrs = [...blocksIn(object)];
    for (const family of this.#families) {
      const { block, count } = forms[family];
      const needed = Number(valueAt(requestIn(object), 'needed', count) ?? 0);
      const has = cidrs.filter((cidr) => cidr.includes(':') === (family === 'ipv6')).length;
      for (let blocks = has; blocks * usable < needed; blocks++) cidrs.push(block(this.#next++ % 250));
    }
    if (cidrs.length === blocksIn(object).length) return;
    const resourceVersion = valueAt(object, 'metadata', 'resourceVersion') ?? '';
    const allocated = [{ pool: 'default', cidrs }];
    await ask('PATCH', ownPath, { metadata: { resourceVersion }, spec: { ipam: { pools: { allocated } } } });
  }

  trouble(): void {
    // The agent itself gives blocks up as its demand falls.
  }

  supplies(address: string, object: JsonObject | undefined): boolean {
    return blocksIn(object).some((block) => isInside(block, address));
  }

  problemsAtRest(object: JsonObject | undefined): readonly string[] {
    const needed = this.#families.map((family) => valueAt(requestIn(object), 'needed', forms[family].count));
    return needed.every((count) => count === 8)
      ? []
      : [`${JSON.stringify(needed)} are needed when nothing is held`];
  }
}

function requestIn(object: JsonObject | undefined): JsonObject | undefined {
  return listAt(object, 'spec', 'ipam', 'pools', 'requested')
    .filter(isObject)
    .find((each) => each['pool'] === 'default');
}

function blocksIn(object: JsonObject | undefined): readonly string[] {
  return listAt(object, 'spec', 'ipam', 'pools', 'allocated')
    .filter(isObject)
    .flatMap((entry) => textsAt(entry, 'cidrs'));
}
