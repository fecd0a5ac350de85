// What each controller put on which interface by calls of its own that were answered: where that is it knows without any
// reading, also of an address that was another interface's as far as it knew.
import { textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import type { ShownNode } from './shown-node.ts';

interface Receipt {
  readonly interfaceId: string;
  /** Of the answer, in ms; Infinity until then. */
  readonly answeredAt: number;
}

/** Calls after which a controller knows what an interface has: assignments, and the last one of those that make one. */
const telling: ReadonlySet<string> = new Set(['AssignPrivateIpAddresses', 'AttachNetworkInterface']);

export interface Misplaced {
  readonly address: string;
  /** The interface that the node shows it on, and the one that was given it. */
  readonly on: string;
  readonly given: string;
}

export class Received {
  readonly #now: () => number;
  /** By controller, by address or prefix. */
  readonly #by = new Map<string, Map<string, Receipt>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A call of a controller gave an interface these, and is not answered yet. */
  given(identity: string, interfaceId: string, holdings: readonly string[]): void {
    const own = this.#by.get(identity) ?? new Map<string, Receipt>();
    for (const holding of holdings) own.set(holding, { interfaceId, answeredAt: Infinity });
    this.#by.set(identity, own);
  }

  /** A call of a controller has ended. */
  add(identity: string, action: string, input: JsonObject, result: string): void {
    if (!telling.has(action) || result !== 'OK') return;
    const interfaceId = textAt(input, 'NetworkInterfaceId');
    const own = this.#by.get(identity) ?? new Map<string, Receipt>();
    for (const [holding, receipt] of own)
      if (receipt.interfaceId === interfaceId && receipt.answeredAt === Infinity)
        own.set(holding, { interfaceId, answeredAt: this.#now() });
  }

  /** What a node shows on another interface than the controller knew at `at`, in ms, to have been given it last. */
  misplaced(identity: string, at: number, { interfaces }: ShownNode): readonly Misplaced[] {
    const own = this.#by.get(identity);
    if (own === undefined) return [];
    return Object.entries(interfaces).flatMap(([on, { addresses = [] }]) =>
      addresses.flatMap((address) => {
        const { interfaceId: given = on, answeredAt = Infinity } = own.get(address) ?? {};
        return answeredAt < at && given !== on ? [{ address, on, given }] : [];
      }),
    );
  }
}
