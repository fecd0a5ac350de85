// A tap between the controller and the server: it forwards every byte unchanged, and records each call with its answer.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A request to EC2's query API as it was sent, with its answer. */
export interface TappedCall {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly action: string;
  readonly parameters: URLSearchParams;
  /** HTTP status; undefined until there is an answer. */
  readonly status: number | undefined;
  /** The error code of EC2, for a refusal. */
  readonly errorCode: string | undefined;
}

/** A request, and as much of its answer as has arrived, head and body. */
interface Exchange {
  readonly head: string;
  readonly body: string;
  answer: string;
}

export class WireTap {
  readonly #server: Server;
  readonly #exchanges: Exchange[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(target: URL) {
    const far = { host: target.hostname, port: Number(target.port || 80) };
    this.#server = createServer((near) => this.#join(near, connect(far)));
  }

  /** Resolves once it listens. `target`: an http URL. */
  static start(target: string): Promise<WireTap> {
    const tap = new WireTap(new URL(target));
    return new Promise((resolve, reject) => {
      tap.#server.once('error', reject);
      tap.#server.listen(0, '127.0.0.1', () => resolve(tap));
    });
  }

  /** Such as `http://127.0.0.1:39341`: it forwards to the server. */
  get url(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  /** In the order in which they were sent. */
  get calls(): readonly TappedCall[] {
    return this.#exchanges.map(callOf);
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #join(near: Socket, far: Socket): void {
    const ends = [
      { socket: near, other: far },
      { socket: far, other: near },
    ];
    for (const { socket, other } of ends) {
      this.#sockets.add(socket);
      // A close follows an error, and ends the other side too.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroySoon();
      });
      socket.pipe(other);
    }
    this.#listen(near, far);
  }

  /** One connection carries one request at a time. */
  #listen(near: Socket, far: Socket): void {
    let sent = '';
    let current: Exchange | undefined;
    near.on('data', (piece: Buffer) => {
      sent += piece.toString('latin1');
      for (let request = firstRequest(sent); request !== undefined; request = firstRequest(sent)) {
        sent = sent.slice(request.length);
        current = { head: request.head, body: request.body, answer: '' };
        this.#exchanges.push(current);
      }
    });
    far.on('data', (piece: Buffer) => {
      if (current !== undefined) current.answer += piece.toString('latin1');
    });
  }
}

/** The request at the start of `sent`; undefined until it is complete. */
function firstRequest(
  sent: string,
): { readonly head: string; readonly body: string; readonly length: number } | undefined {
  const end = sent.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = sent.slice(0, end);
  const length = end + 4 + Number(headersIn(head)['content-length'] ?? 0);
  return sent.length < length ? undefined : { head, body: sent.slice(end + 4, length), length };
}

function headersIn(head: string): Record<string, string | undefined> {
  const lines = head.split('\r\n').slice(1);
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

function callOf({ head, body, answer }: Exchange): TappedCall {
  const [method = '', url = ''] = head.split(' ', 2);
  const parameters = new URLSearchParams(body);
  const status = /^HTTP\/1\.\d (\d{3})/.exec(answer)?.[1];
  return {
    method,
    url,
    headers: headersIn(head),
    body,
    action: parameters.get('Action') ?? '',
    parameters,
    status: status === undefined ? undefined : Number(status),
    errorCode: /<Code>([^<]+)<\/Code>/.exec(answer)?.[1],
  };
}
