// Node.js agents that run a final check once a request has a connection and nothing is written yet. The
// process may freeze between the decision to send and that moment.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, type AgentOptions, type ClientRequest } from 'node:http';
import { Agent as TlsAgent, type AgentOptions as TlsAgentOptions } from 'node:https';

const looks = new AsyncLocalStorage<() => void>();

/**
 * Requests made by `send` leave only if `look` does not throw once they have a connection; otherwise they
 * fail with that error.
 */
export function lookingOnceConnected<T>(look: () => void, send: () => T): T {
  return looks.run(look, send);
}

export function lookingAgent(options: AgentOptions): Agent {
  return withLooks(new Agent(options));
}

export function lookingTlsAgent(options: TlsAgentOptions): TlsAgent {
  return withLooks(new TlsAgent(options));
}

/** Node.js calls this with each request; its types omit it. */
interface RequestTaker {
  addRequest(request: ClientRequest, ...rest: readonly unknown[]): void;
}

function withLooks<A extends Agent>(agent: A): A {
  const taker = agent as A & RequestTaker;
  const addRequest = taker.addRequest.bind(agent);
  taker.addRequest = (request, ...rest) => {
    const look = looks.getStore();
    if (look !== undefined) request.once('socket', () => takeLook(request, look));
    addRequest(request, ...rest);
  };
  return agent;
}

function takeLook(request: ClientRequest, look: () => void): void {
  try {
    look();
  } catch (error) {
    request.destroy(error as Error);
  }
}
