// That the cloud refuses a call because the interface that it is about is gone teaches the controller so: the same call
// of the same process is not sent again for the same interface, unless a reading came in between, which may show it still.
// One that was made a moment ago may only not be known yet.
import { textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';

export interface StaleFactsOptions {
  readonly now: () => number;
  /** In ms. */
  readonly consistencyWindow: number;
  readonly isThere: (interfaceId: string) => boolean;
}

interface RefusableCall {
  readonly input: JsonObject;
  readonly result: string;
  readonly sentAt: number;
}

export class StaleFacts {
  readonly #options: StaleFactsOptions;
  readonly #madeAt = new Map<string, number>();
  /** When each call was first refused, by controller. */
  readonly #refused = new Map<string, Map<string, number>>();

  constructor(options: StaleFactsOptions) {
    this.#options = options;
  }

  /** An interface came to be, or a controller takes in that it did, which counts its time from then. */
  made(interfaceId: string): void {
    this.#madeAt.set(interfaceId, this.#options.now());
  }

  /** A controller has taken in a reading of interfaces. */
  readAnew(identity: string): void {
    this.#refused.delete(identity);
  }

  /** A call of a controller, sent at `sentAt`, has ended. Returns what was refused again, although the refusal was known. */
  add(identity: string, action: string, { input, result, sentAt }: RefusableCall): string | undefined {
    const { now, consistencyWindow, isThere } = this.#options;
    const interfaceId = textAt(input, 'NetworkInterfaceId');
    if (result !== 'InvalidNetworkInterfaceID.NotFound' || isThere(interfaceId)) return undefined;
    if (now() < (this.#madeAt.get(interfaceId) ?? -Infinity) + consistencyWindow) return undefined;
    const call = `${action} of ${identity} for ${interfaceId}, which is gone`;
    const refused = this.#refused.get(identity) ?? new Map<string, number>();
    const refusedAt = refused.get(call);
    if (refusedAt !== undefined) return sentAt > refusedAt ? call : undefined;
    this.#refused.set(identity, refused.set(call, now()));
    return undefined;
  }
}
