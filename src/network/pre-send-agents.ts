// Node.js agents that run a final check once a request has a connection and nothing is written yet. The
// process may freeze between the decision to send and that moment.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, type AgentOptions, type ClientRequest } from 'node:http';
import { Agent as TlsAgent, type AgentOptions as TlsAgentOptions } from 'node:https';

const checks = new AsyncLocalStorage<() => void>();

/**
 * Requests made by `send` leave only if `check` does not throw once they have a connection; otherwise they
 * fail with that error.
 */
export function checkedOnceConnected<T>(check: () => void, send: () => T): T {
  return checks.run(check, send);
}

export function checkingAgent(options: AgentOptions): Agent {
  return withChecks(new Agent(options));
}

export function checkingTlsAgent(options: TlsAgentOptions): TlsAgent {
  return withChecks(new TlsAgent(options));
}

/** Node.js calls this with each request; its types omit it. */
interface RequestTaker {
  addRequest(request: ClientRequest, ...rest: readonly unknown[]): void;
}

function withChecks<A extends Agent>(agent: A): A {
  const taker = agent as A & RequestTaker;
  const addRequest = taker.addRequest.bind(agent);
  taker.addRequest = (request, ...rest) => {
    const check = checks.getStore();
    if (check !== undefined) request.once('socket', () => runCheck(request, check));
    addRequest(request, ...rest);
  };
  return agent;
}

function runCheck(request: ClientRequest, check: () => void): void {
  try {
    check();
  } catch (error) {
    request.destroy(error as Error);
  }
}
