// Agents of Node.js that have one more look taken when a connection for a request is there, and nothing of it is written yet:
// a process can stand still between the decision to send it and that moment.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, type AgentOptions, type ClientRequest } from 'node:http';
import { Agent as TlsAgent, type AgentOptions as TlsAgentOptions } from 'node:https';

const looks = new AsyncLocalStorage<() => void>();

/** Requests that `send` makes leave only if `look` does not throw once they have a connection; else they fail with that. */
export function lookingOnceConnected<T>(look: () => void, send: () => T): T {
  return looks.run(look, send);
}

export function lookingAgent(options: AgentOptions): Agent {
  return withLooks(new Agent(options));
}

export function lookingTlsAgent(options: TlsAgentOptions): TlsAgent {
  return withLooks(new TlsAgent(options));
}

/** What Node.js calls with each request; its types leave it out. */
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
