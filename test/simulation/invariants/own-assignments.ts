// What each controller put on which interface by calls of its own that were answered: where that is it knows without any
// reading, also of an address that was another interface's as far as it knew.
import { listAt, textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import type { ShownNode } from './shown-node.ts';

interface Receipt {
  readonly interfaceId: string;
  /** Of the answer, in ms; Infinity until then. */
  readonly answeredAt: number;
}

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

  /**
   * A call of a controller has succeeded. It knows what an interface has by the answers to assignments, of which several may
   * be under way at once, and to the last of the calls that make one.
   */
  add(identity: string, action: string, input: JsonObject, output: JsonObject): void {
    const named = action === 'AssignPrivateIpAddresses' ? new Set(assignedIn(output)) : undefined;
    if (named === undefined && action !== 'AttachNetworkInterface') return;
    const interfaceId = textAt(input, 'NetworkInterfaceId');
    const own = this.#by.get(identity) ?? new Map<string, Receipt>();
    for (const [holding, receipt] of own) {
      const isPending = receipt.interfaceId === interfaceId && receipt.answeredAt === Infinity;
      if (isPending && named?.has(holding) !== false)
        own.set(holding, { interfaceId, answeredAt: this.#now() });
    }
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

function assignedIn(output: JsonObject): readonly string[] {
  return [
    ...listAt(output, 'AssignedPrivateIpAddresses').map((each) => textAt(each, 'PrivateIpAddress')),
    ...listAt(output, 'AssignedIpv4Prefixes').map((each) => textAt(each, 'Ipv4Prefix')),
  ];
}
