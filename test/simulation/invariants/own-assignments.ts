// What each controller assigned to which interface by its own answered calls. It knows this without a read, even if it
// knew the address on another interface.
import { listAt, textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import type { ShownNode } from './shown-node.ts';

interface Receipt {
  readonly interfaceId: string;
  /** Time of the answer, in ms; Infinity before it. */
  readonly answeredAt: number;
}

export interface Misplaced {
  readonly address: string;
  /** The interface that shows the address, and the one that it was assigned to. */
  readonly on: string;
  readonly assignedTo: string;
}

export class OwnAssignments {
  readonly #now: () => number;
  /** By controller, by address or prefix. */
  readonly #by = new Map<string, Map<string, Receipt>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A call of a controller assigned these to an interface, and is not answered yet. */
  assigned(identity: string, interfaceId: string, holdings: readonly string[]): void {
    const own = this.#by.get(identity) ?? new Map<string, Receipt>();
    for (const holding of holdings) own.set(holding, { interfaceId, answeredAt: Infinity });
    this.#by.set(identity, own);
  }

  /**
   * A call of a controller succeeded. A controller learns what an interface has from answers to assignments, several of
   * which may be in flight, and from the last call that creates an interface.
   */
  onAnswer(identity: string, action: string, input: JsonObject, output: JsonObject): void {
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

  /** What a node shows on another interface than the one that, as the controller knew at `at`, in ms, got it last. */
  misplaced(identity: string, at: number, { interfaces }: ShownNode): readonly Misplaced[] {
    const own = this.#by.get(identity);
    if (own === undefined) return [];
    return Object.entries(interfaces).flatMap(([on, { addresses = [] }]) =>
      addresses.flatMap((address) => {
        const { interfaceId: assignedTo = on, answeredAt = Infinity } = own.get(address) ?? {};
        return answeredAt < at && assignedTo !== on ? [{ address, on, assignedTo }] : [];
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
