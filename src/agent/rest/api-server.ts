// Carries REST calls over HTTP on a Unix socket: a file that stays if its listener is killed, and is then replaced. A slow, overlong or otherwise bad request never affects another one.
import { lstatSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import { ClientConnections } from '../../observability/client-connections.ts';
import { closeServer } from '../../observability/http-server.ts';
import type { Logger } from '../../observability/logger.ts';
import { type Api, type ApiAnswer, json } from './api.ts';

export interface ServerOptions {
  readonly api: Api;
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The length limit of a body, in bytes. */
const maxBytes = 2 ** 20;
/** The length of a body, in bytes, at which the connection ends without an answer. */
const maxDroppedBytes = 64 * maxBytes;
/** The longest silence of a client, in ms: longer than any wait that a network may ask for. */
const clientTimeout = 90_000;
const never = new AbortController().signal;
/** The time between two interim responses to a waiting client, in ms: the plugin takes longer silence for a hung agent. */
const wordInterval = 2000;
/** How long requests in flight may take after `close`, in ms. */
const closingGrace = 2000;

export class ApiServer {
  readonly #options: ServerOptions;
  readonly #server: Server;
  /** Ends the wait of each request in flight that may wait. */
  readonly #open = new Set<AbortController>();
  #isStopping = false;
  #inode: number | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#server = createServer();
    // No bound on their number: each call of the plugin that waits for an address holds one.
    const connections = new ClientConnections(this.#server, Infinity);
    this.#server.on('request', (request, response) => {
      connections.inTurn(request, response, () => void this.#answer(request, response));
    });
    this.#server.setTimeout(clientTimeout);
  }

  /** Listens; returns what prevents it. */
  async listen(): Promise<string | undefined> {
    const problem = await listenOn(this.#server, this.#options.path);
    this.#inode = lstatSync(this.#options.path, { throwIfNoEntry: false })?.ino;
    this.#server.on('error', (error) => this.#options.log.warn('cannot accept a connection', { error }));
    return problem;
  }

  /** The problem of the socket on the disk; undefined if there is none. */
  lost(): string | undefined {
    const { path } = this.#options;
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.ino === this.#inode ? undefined : `the socket ${path} was removed`;
  }

  /** Accepts nothing more, and ends waits; resolves once all requests are answered, or cut off. */
  close(): Promise<void> {
    this.#isStopping = true;
    for (const each of this.#open) each.abort();
    return closeServer(this.#server, this.#options.clock, closingGrace);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = hasBody(request)
        ? await this.#answerBody(request, response)
        : await this.#handle(request, '', never);
      if (answer !== 'gone') send(response, answer);
    } catch (error) {
      this.#options.log.error('a bug: please report it', { error });
      send(response, json(500, 'internal error'));
    }
  }

  /** Answers a request with a body. Such a request, as a call of the plugin, may wait until its client is gone. */
  async #answerBody(request: IncomingMessage, response: ServerResponse): Promise<ApiAnswer | 'gone'> {
    const ended = new AbortController();
    this.#open.add(ended);
    response.once('close', () => {
      this.#open.delete(ended);
      // Aborting costs as much as answering, so abort only if the client is gone.
      if (!response.writableFinished) ended.abort();
    });
    const body = await bodyOf(request);
    if (body === 'gone') return body;
    if (body === 'too long') return json(413, `the body has more than ${maxBytes} bytes`);
    if (this.#isStopping) ended.abort();
    const answer = this.#handle(request, body.text, ended.signal);
    return answer instanceof Promise ? this.#whileWaiting(response, answer) : answer;
  }

  /** Says at intervals that the request is worked on. */
  async #whileWaiting(response: ServerResponse, answer: Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { clock } = this.#options;
    let cancel = (): void => undefined;
    const say = (): void => {
      response.writeProcessing();
      cancel = clock.schedule(wordInterval, say);
    };
    cancel = clock.schedule(wordInterval, say);
    try {
      return await answer;
    } finally {
      cancel();
    }
  }

  #handle(
    { url = '', method = '', headers }: IncomingMessage,
    body: string,
    signal: AbortSignal,
  ): ApiAnswer | Promise<ApiAnswer> {
    const [path = '', ...query] = url.split('?');
    return this.#options.api.handle(
      { path, method, headers, body, query: new URLSearchParams(query.join('?')) },
      signal,
    );
  }
}

/** Most calls have no body, and waiting for one would take as long as all the rest of the call. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Reads the body of a request. A body that is too long is read and dropped, so that the client can read the answer. */
async function bodyOf(request: IncomingMessage): Promise<{ readonly text: string } | 'too long' | 'gone'> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      length += piece.byteLength;
      if (length <= maxBytes) pieces.push(piece);
      else if (length > maxDroppedBytes) request.destroy();
    }
  } catch {
    return 'gone';
  }
  return length > maxBytes ? 'too long' : { text: Buffer.concat(pieces).toString() };
}

function send(response: ServerResponse, { status, body = '', contentType, headers }: ApiAnswer): void {
  response.writeHead(status, {
    ...(body !== '' && { 'content-type': contentType ?? 'application/json' }),
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** Listens on a path that this process has locked, in a folder that exists; returns what prevents it. */
async function listenOn(server: Server, path: string): Promise<string | undefined> {
  try {
    if (await hasListener(path)) return `another process listens on ${path}`;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isSocket())
      return `${path} is no socket: remove it, or set another path`;
    rmSync(path, { force: true });
  } catch (error) {
    return (error as Error).message;
  }
  return new Promise((settle) => {
    server.once('error', (error) => settle(`cannot listen on ${path}: ${error.message}`));
    // Members of the group may connect: the socket gives and takes addresses of pods.
    const umask = process.umask(0o117);
    server.listen(path, () => settle(undefined));
    process.umask(umask);
  });
}

function hasListener(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
}
