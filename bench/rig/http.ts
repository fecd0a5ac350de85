// Plain HTTP to the processes of the benchmark, over connections that are kept.
import { Agent, type IncomingMessage, request } from 'node:http';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';

const pool = new Agent({ keepAlive: true, maxSockets: 32 });
/** A watch never gives its connection back. */
const watches = new Agent();

interface Outgoing {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
}

function send(url: string, outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> {
  const { method, headers = {}, body, agent = pool } = outgoing;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent, signal }, resolve);
    sent.once('error', reject);
    sent.end(body);
  });
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  incoming.setEncoding('utf8');
  let text = '';
  for await (const piece of incoming) text += String(piece);
  return text;
}

/** The text of an answer with status 200. Rejects for any other. */
export async function getText(url: string, signal: AbortSignal): Promise<string> {
  const answer = await send(url, { method: 'GET' }, signal);
  const text = await textOf(answer);
  if (answer.statusCode === 200) return text;
  throw new Error(`GET ${url}: ${answer.statusCode} ${text.slice(0, 200)}`);
}

/** JSON in, JSON out. Rejects unless the status is below 300. */
export async function callJson<T>(
  method: string,
  url: string,
  body: unknown,
  signal: AbortSignal,
): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const answer = await send(url, { method, headers, ...sent }, signal);
  const text = await textOf(answer);
  if ((answer.statusCode ?? 500) < 300) return JSON.parse(text) as T;
  throw new Error(`${method} ${url}: ${answer.statusCode} ${text.slice(0, 200)}`);
}

/** The API server at `base`, as the embedded agents' client speaks to one. */
export function handlerFor(base: string): KubernetesHandler {
  return async ({ method, url, headers, body }, signal) => {
    const isWatch = /[?&]watch=/.test(url);
    const outgoing = {
      method,
      headers,
      ...(body !== undefined && { body }),
      agent: isWatch ? watches : pool,
    };
    const answer = await send(`${base}${url}`, outgoing, signal);
    const { statusCode: status = 500 } = answer;
    if (!isWatch || status !== 200) return { status, headers: {}, body: await textOf(answer) };
    answer.setEncoding('utf8');
    return { status, headers: {}, body: answer as AsyncIterable<string> };
  };
}
