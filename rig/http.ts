// HTTP and HTTPS requests to the processes of a benchmark or a test, over persistent connections.
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { KubernetesHandler } from '../src/simulator/kubernetes/exchange.ts';

/** A server, and the identity of the caller. */
export interface Endpoint {
  readonly url: string;
  /** The certificate of the authority that signed the server's, as PEM. */
  readonly ca?: string;
  /** Bearer token. */
  readonly token?: string;
}

interface Pool {
  readonly plain: HttpAgent;
  readonly tls: HttpsAgent;
}

const kept = { keepAlive: true, maxSockets: 32 } as const;
const pool: Pool = { plain: new HttpAgent(kept), tls: new HttpsAgent(kept) };
/** A watch keeps its connection for good. */
const watches: Pool = { plain: new HttpAgent(), tls: new HttpsAgent() };

interface Outgoing {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly pool?: Pool;
}

/** `path` begins with a slash. */
function send(
  { url, ca, token }: Endpoint,
  path: string,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { method, body, pool: agents = pool } = outgoing;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  // Node.js sets no length for the body of a DELETE.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const headers = { ...outgoing.headers, ...authorization, ...length };
  return new Promise((resolve, reject) => {
    const sent = url.startsWith('https:')
      ? httpsRequest(url + path, { method, headers, signal, agent: agents.tls, ...(ca && { ca }) }, resolve)
      : httpRequest(url + path, { method, headers, signal, agent: agents.plain }, resolve);
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

export interface TextAnswer {
  readonly status: number;
  readonly text: string;
}

/** A whole URL; with the authority that signed the server's certificate, if it is not one that everybody trusts. */
export type Target = string | Pick<Endpoint, 'url' | 'ca'>;

/** Resolves with the answer of the server, whatever its status; rejects only without an answer. */
export async function askText(
  method: string,
  target: Target,
  body: unknown,
  signal: AbortSignal,
): Promise<TextAnswer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const { url, ...trust } = typeof target === 'string' ? { url: target } : target;
  const { origin, pathname, search } = new URL(url);
  const endpoint = { ...trust, url: origin };
  const answer = await send(endpoint, pathname + search, { method, headers, ...sent }, signal);
  return { status: answer.statusCode ?? 500, text: await textOf(answer) };
}

/** The text of an answer with status 200. Rejects for any other status. */
export async function getText(url: string, signal: AbortSignal): Promise<string> {
  const { status, text } = await askText('GET', url, undefined, signal);
  if (status === 200) return text;
  throw new Error(`GET ${url}: ${status} ${text.slice(0, 200)}`);
}

/** Sends and receives JSON. Rejects unless the status is below 300. */
export async function callJson<T>(
  method: string,
  target: Target,
  body: unknown,
  signal: AbortSignal,
): Promise<T> {
  const { status, text } = await askText(method, target, body, signal);
  if (status < 300) return JSON.parse(text) as T;
  const url = typeof target === 'string' ? target : target.url;
  throw new Error(`${method} ${url}: ${status} ${text.slice(0, 200)}`);
}

/** An API server behind the client of the embedded agents. */
export function handlerFor(endpoint: Endpoint): KubernetesHandler {
  return async ({ method, url, headers, body }, signal) => {
    const isWatch = /[?&]watch=/.test(url);
    const outgoing = { method, headers, ...(body !== undefined && { body }), pool: isWatch ? watches : pool };
    const answer = await send(endpoint, url, outgoing, signal);
    const { statusCode: status = 500 } = answer;
    if (!isWatch || status !== 200) return { status, headers: {}, body: await textOf(answer) };
    answer.setEncoding('utf8');
    return { status, headers: {}, body: answer as AsyncIterable<string> };
  };
}
