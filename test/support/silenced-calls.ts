// Calls to a cloud over connections that a relay silences: requests arrive, and their answers get lost.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { VirtualClock } from './virtual-clock.ts';
import { loopbackServer } from './loopback-server.ts';
import { type SilentRelay, startSilentRelay } from './silent-relay.ts';

export interface SilencedCalls {
  readonly relay: SilentRelay;
  readonly clock: VirtualClock;
  /** Actions and client tokens of the calls that arrived. */
  readonly arrived: readonly string[];
  /** Resolves once so many calls have arrived; each turn lets sockets work. */
  readonly whenArrived: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A call, as its cloud writes it. */
export interface ArrivedCall {
  readonly action: string;
  /** Its client token, if it has one. */
  readonly token: string | null;
}

/** What is the same for a provider of any cloud. */
export const connecting = {
  connections: 4,
  connectionTimeout: 5000,
  proxyFor: () => undefined,
  onRoute: () => undefined,
} as const;

/** `answer` reads a request and answers it. */
export async function silencedCalls(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<ArrivedCall>,
): Promise<SilencedCalls> {
  const arrived: string[] = [];
  const server = await loopbackServer((request, response) => {
    void answer(request, response).then(({ action, token }) =>
      arrived.push(`${action} ${token ?? ''}`.trim()),
    );
  });
  const relay = await startSilentRelay(server.url);
  return {
    relay,
    clock: new VirtualClock(),
    arrived,
    whenArrived: async (count) => {
      for (let turn = 0; arrived.length !== count; turn++) {
        if (turn > 100_000) throw new Error('it did not happen');
        await new Promise<void>((resolve) => {
          setImmediate(resolve);
        });
      }
    },
    close: async () => {
      await relay.close();
      await server.close();
    },
  };
}

/** How a call ended: `answered`, or why it failed. */
export function endOf(call: Promise<unknown>): Promise<string> {
  return call.then(() => 'answered', String);
}
