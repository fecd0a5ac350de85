// Node.js agents that run a final check once a request has a connection and nothing is written yet: the process may
// freeze between the decision to send and that moment. They also distrust connections that were idle. The other side
// may be gone while something between acknowledges everything, so that a request would wait for its whole time-out.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, type AgentOptions, type ClientRequest } from 'node:http';
import { Agent as TlsAgent, type AgentOptions as TlsAgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Clock } from '../runtime/clock.ts';

export interface Departure {
  /** Throws if the request may not leave. */
  readonly check: () => void;
  /**
   * Whether the request may be sent twice. If so, it fails with a SilentConnection when an idle connection that it uses
   * again stays silent. If not, it uses no connection that was idle.
   */
  readonly isRepeatable: boolean;
}

/** No answer began over a connection that had been idle. Later requests use none that was idle by then. */
export class SilentConnection extends Error {
  override readonly name = 'SilentConnection';
}

/** How long an idle connection is kept, in ms. */
const maxIdleTime = 5000;
/** A connection that was idle for no longer than this counts as just heard, in ms. */
const justHeard = 1000;
/** How long to wait for the start of an answer over a connection that was idle, in ms. */
const patience = 5000;

const departures = new AsyncLocalStorage<Departure>();

/**
 * Requests made by `send` leave only if the check does not throw once they have a connection; otherwise they
 * fail with that error.
 */
export function checkedOnceConnected<T>(departure: Departure, send: () => T): T {
  return departures.run(departure, send);
}

export function checkingAgent(options: AgentOptions, clock: Clock): Agent {
  return withChecks(new Agent({ ...options, timeout: maxIdleTime }), clock);
}

export function checkingTlsAgent(options: TlsAgentOptions, clock: Clock): TlsAgent {
  return withChecks(new TlsAgent({ ...options, timeout: maxIdleTime }), clock);
}

/** Agents that keep up to `connections` to one host, all through the proxy, if there is one. */
export function agentsVia(
  proxy: URL | undefined,
  { connections, clock }: { readonly connections: number; readonly clock: Clock },
): { readonly http: Agent; readonly https: TlsAgent } {
  // The caller already chose which requests use the proxy, so the agents get no exceptions.
  const proxyEnv = proxy && { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href };
  const settings = { keepAlive: true, maxSockets: connections, ...(proxyEnv && { proxyEnv }) };
  return { http: checkingAgent(settings, clock), https: checkingTlsAgent(settings, clock) };
}

/** Node.js calls this with each request; its types omit it. */
interface RequestTaker {
  addRequest(request: ClientRequest, ...rest: readonly unknown[]): void;
}

function withChecks<A extends Agent>(agent: A, clock: Clock): A {
  const taker = agent as A & RequestTaker;
  const addRequest = taker.addRequest.bind(agent);
  const keepSocketAlive = agent.keepSocketAlive.bind(agent);
  const idleSince = new WeakMap<Duplex, number>();
  agent.keepSocketAlive = (socket) => {
    idleSince.set(socket, clock.monotonic());
    return keepSocketAlive(socket);
  };
  const closeIdle = (longerThan: number): void => {
    for (const sockets of Object.values(agent.freeSockets))
      for (const socket of sockets ?? [])
        if (clock.monotonic() - (idleSince.get(socket) ?? -Infinity) > longerThan) socket.destroy();
  };
  const endWhenSilent = (request: ClientRequest): void => {
    if (!request.reusedSocket) return;
    const cancel = clock.schedule(patience, () => {
      closeIdle(0);
      request.destroy(new SilentConnection('the connection is silent'));
    });
    request.once('response', cancel).once('close', cancel);
  };
  taker.addRequest = (request, ...rest) => {
    const departure = departures.getStore();
    if (departure !== undefined) {
      request.once('socket', () => runCheck(request, departure.check));
      if (departure.isRepeatable) request.once('socket', () => endWhenSilent(request));
      else closeIdle(justHeard);
    }
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
