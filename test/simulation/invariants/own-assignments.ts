// What each controller assigned to which interface by its own answered calls. It knows this without a read, even if it
// knew the address on another interface.
import { type Json, listAt, textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import type { ShownNode } from './shown-node.ts';

interface Receipt {
  readonly interfaceId: string;
  /** Time of the answer, in ms; Infinity before it. */
  readonly answeredAt: number;
  /** The cloud works on the attachment of its interface, and only a read shows the end. */
  readonly isAccepted?: boolean;
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
   * which may be in flight, and from the last call that creates an interface. An answer without the id of an attachment
   * only accepts it: until a read shows its end, the interface is on no instance for the controller.
   */
  onAnswer(identity: string, action: string, input: JsonObject, output: JsonObject): void {
    const interfaceId = textAt(input, 'NetworkInterfaceId');
    if (action === 'AssignPrivateIpAddresses') {
      const named = new Set(assignedIn(output));
      this.#know(identity, (receipt, holding) => receipt.interfaceId === interfaceId && named.has(holding));
    } else if (action === 'AttachNetworkInterface' && textAt(output, 'AttachmentId') !== '')
      this.#know(identity, (receipt) => receipt.interfaceId === interfaceId);
    else if (action === 'AttachNetworkInterface') this.#accept(identity, interfaceId);
    else if (action === 'DescribeNetworkInterfaces') {
      const attached = new Set(listAt(output, 'NetworkInterfaces').flatMap(attachedIn));
      this.#know(identity, (receipt) => receipt.isAccepted === true && attached.has(receipt.interfaceId));
    }
  }

  #know(identity: string, isMeant: (receipt: Receipt, holding: string) => boolean): void {
    const own = this.#by.get(identity) ?? new Map<string, Receipt>();
    for (const [holding, receipt] of own)
      if (receipt.answeredAt === Infinity && isMeant(receipt, holding))
        own.set(holding, { interfaceId: receipt.interfaceId, answeredAt: this.#now() });
  }

  #accept(identity: string, interfaceId: string): void {
    const own = this.#by.get(identity) ?? new Map<string, Receipt>();
    for (const [holding, receipt] of own)
      if (receipt.interfaceId === interfaceId) own.set(holding, { ...receipt, isAccepted: true });
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

function attachedIn(item: Json): readonly string[] {
  return textAt(item, 'Status') === 'in-use' ? [textAt(item, 'NetworkInterfaceId')] : [];
}

function assignedIn(output: JsonObject): readonly string[] {
  return [
    ...listAt(output, 'AssignedPrivateIpAddresses').map((each) => textAt(each, 'PrivateIpAddress')),
    ...listAt(output, 'AssignedIpv4Prefixes').map((each) => textAt(each, 'Ipv4Prefix')),
  ];
}
