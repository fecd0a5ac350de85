// A refusal because an interface is gone teaches the controller: the same process must not repeat the call for that
// interface, unless a read in between may still have shown it. A new interface is exempt, because the cloud may not
// show it yet. So is a call that asks again, under its token, for an answer that was lost before.
import { textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';

export interface RepeatedRefusalsOptions {
  readonly now: () => number;
  /** How long the cloud may not show an interface after its creation, in ms. */
  readonly newFor: number;
  readonly exists: (interfaceId: string) => boolean;
}

interface RefusableCall {
  readonly input: JsonObject;
  readonly result: string;
  readonly sentAt: number;
}

export class RepeatedRefusals {
  readonly #options: RepeatedRefusalsOptions;
  readonly #createdAt = new Map<string, number>();
  /** By client token: when it was sent first. */
  readonly #firstSentAt = new Map<string, number>();
  /** By controller: when each call was first refused. */
  readonly #refused = new Map<string, Map<string, number>>();

  constructor(options: RepeatedRefusalsOptions) {
    this.#options = options;
  }

  /** An interface was created, or a controller applied that answer, from which its own time counts. */
  created(interfaceId: string): void {
    this.#createdAt.set(interfaceId, this.#options.now());
  }

  /** A controller applied a read of interfaces. */
  onRead(identity: string): void {
    this.#refused.delete(identity);
  }

  /** A call of a controller, sent at `sentAt`, ended. Returns the call if it repeats a known refusal. */
  add(identity: string, action: string, { input, result, sentAt }: RefusableCall): string | undefined {
    const { now, newFor, exists } = this.#options;
    const startedAt = this.#startedAt(textAt(input, 'clientToken'), sentAt);
    const interfaceId = textAt(input, 'NetworkInterfaceId');
    if (result !== 'InvalidNetworkInterfaceID.NotFound' || exists(interfaceId)) return undefined;
    if (now() < (this.#createdAt.get(interfaceId) ?? -Infinity) + newFor) return undefined;
    const call = `${action} of ${identity} for ${interfaceId}, which is gone`;
    const refused = this.#refused.get(identity) ?? new Map<string, number>();
    const refusedAt = refused.get(call);
    if (refusedAt !== undefined) return startedAt > refusedAt ? call : undefined;
    this.#refused.set(identity, refused.set(call, now()));
    return undefined;
  }

  #startedAt(token: string, sentAt: number): number {
    if (token === '') return sentAt;
    const startedAt = this.#firstSentAt.get(token) ?? sentAt;
    this.#firstSentAt.set(token, startedAt);
    return startedAt;
  }
}
