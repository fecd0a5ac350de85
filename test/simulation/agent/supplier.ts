// Supplies a node with addresses through its CiliumNode, in place of a controller: takes back only addresses that the
// agent gives up, and checks that nobody uses them.
import {
  type Cidr,
  contains,
  type Family,
  parseAddress,
  parseCidr,
  widthOf,
} from '../../../src/blocks/set/cidr.ts';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';

/** A request of an administrator. */
export type Ask = (method: string, url: string, body?: JsonObject) => Promise<JsonObject>;

export interface Supplier {
  /** Called once, before the node registers. */
  setUp(ask: Ask): Promise<void>;
  /** Reacts to the current state of the CiliumNode. */
  step(object: JsonObject, ask: Ask): Promise<void>;
  /** Changes at random what the node gets. */
  trouble(): void;
  /** Gives back what `trouble` took away. Nothing changes after that. */
  calm(): void;
  /** Whether a pod of this node may use the address, as the CiliumNode is now. `pool`: only as one of it; default: of any. */
  supplies(address: string, object: JsonObject | undefined, pool?: string): boolean;
  /** Problems of the CiliumNode when nothing is held. */
  problemsAtRest(object: JsonObject | undefined): readonly string[];
}

export const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';
export const ownPath = `${ciliumNodes}/one`;

export interface Blocks {
  readonly families: readonly Family[];
  /** Blocks of the node, by a number that an administrator may raise. */
  readonly of: (index: number) => readonly string[];
}

/** Undefined if it is none. */
export function cidrOf(text: string): Cidr | undefined {
  const reading = parseCidr(text);
  return reading.kind === 'cidr' ? reading.cidr : undefined;
}

export function isInside(block: string, text: string): boolean {
  const [cidr, address] = [cidrOf(block), parseAddress(text)];
  if (cidr === undefined || address === undefined) return false;
  const { family, value } = address;
  return contains(cidr, { family, base: value, length: widthOf[family] });
}
