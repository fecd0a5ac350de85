// Gives the node one block of each family, and at times another one.
import { parseAddress, widthOf } from '../../../src/blocks/set/cidr.ts';
import { type JsonObject, textsAt } from '../../../src/simulator/workload/json.ts';
import { type Ask, type Blocks, cidrOf, ownPath, type Supplier } from './supplier.ts';

export class BlockSupplier implements Supplier {
  readonly #blocks: Blocks;
  #index = 0;
  #isChanged = false;

  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  setUp(): Promise<void> {
    return Promise.resolve();
  }

  async step(object: JsonObject, ask: Ask): Promise<void> {
    if (!this.#isChanged && textsAt(object, 'spec', 'ipam', 'podCIDRs').length > 0) return;
    this.#isChanged = false;
    await ask('PATCH', ownPath, { spec: { ipam: { podCIDRs: this.#blocks.of(this.#index) } } });
  }

  /** An administrator gives the node other blocks: what pods hold of the earlier ones stays theirs. */
  trouble(): void {
    this.#index++;
    this.#isChanged = true;
  }

  calm(): void {
    // Nothing is away.
  }

  supplies(address: string): boolean {
    const given = Array.from({ length: this.#index + 1 }, (_, index) => this.#blocks.of(index)).flat();
    return given.some((block) => isUsable(block, address));
  }

  problemsAtRest(): readonly string[] {
    return [];
  }
}

/** Not the first, which is the router, and not the ends. */
function isUsable(block: string, text: string): boolean {
  const [cidr, address] = [cidrOf(block), parseAddress(text)];
  if (cidr === undefined || cidr.family !== address?.family) return false;
  const offset = address.value - cidr.base;
  return offset >= 2n && offset < (1n << BigInt(widthOf[cidr.family] - cidr.length)) - 1n;
}
