// Bounds what clients can hold of an HTTP server: the number of connections, and one request in flight on each.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A further connection ends the one that was used least recently, so a probe always gets in. */
const defaultMax = 64;

/** A client that sends more requests ahead of the answers loses its connection. */
const maxAhead = 100;

interface Turn {
  /** Resolves once all requests so far are answered. */
  last: Promise<void>;
  ahead: number;
}

export class ClientConnections {
  /** The one used least recently is first. */
  readonly #turns = new Map<Socket, Turn>();

  readonly #max: number;

  /** Follows all connections of `server`. `max`: how many there may be. */
  constructor(server: Server, max: number = defaultMax) {
    this.#max = max;
    server.on('connection', (socket) => this.#add(socket));
  }

  /** Calls `answer` once all earlier requests of the same connection are answered, if the client is still there. */
  inTurn({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    const turn = this.#turns.get(socket);
    if (turn === undefined) return;
    this.#use(socket, turn);
    if (++turn.ahead > maxAhead) {
      socket.destroy();
      return;
    }
    const before = turn.last;
    const { promise, resolve } = Promise.withResolvers<void>();
    turn.last = promise;
    response.once('close', () => {
      turn.ahead--;
      resolve();
    });
    void before.then(() => {
      if (!socket.destroyed) answer();
    });
  }

  #add(socket: Socket): void {
    const [oldest] = this.#turns.keys();
    if (oldest !== undefined && this.#turns.size >= this.#max) {
      this.#turns.delete(oldest);
      oldest.destroy();
    }
    this.#turns.set(socket, { last: Promise.resolve(), ahead: 0 });
    socket.once('close', () => this.#turns.delete(socket));
  }

  #use(socket: Socket, turn: Turn): void {
    this.#turns.delete(socket);
    this.#turns.set(socket, turn);
  }
}
