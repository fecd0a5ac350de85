// A gate in front of a server on loopback. A closed gate breaks connections and refuses new ones; an open one passes bytes on.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Gate {
  /** `https://127.0.0.1:PORT`, which the certificate of the server covers. */
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #state: { isOpen: boolean };

  private constructor(server: Server, sockets: Set<Socket>, state: { isOpen: boolean }) {
    const { port } = server.address() as AddressInfo;
    this.url = `https://127.0.0.1:${port}`;
    this.#server = server;
    this.#sockets = sockets;
    this.#state = state;
  }

  /** Open at the start. */
  static async to(target: string): Promise<Gate> {
    const { hostname, port } = new URL(target);
    const sockets = new Set<Socket>();
    const state = { isOpen: true };
    const server = createServer((inner) => {
      if (!state.isOpen) {
        inner.destroy();
        return;
      }
      const outer = connect(Number(port), hostname);
      for (const [socket, other] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return new Gate(server, sockets, state);
  }

  shut(): void {
    this.#state.isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  open(): void {
    this.#state.isOpen = true;
  }

  async end(): Promise<void> {
    this.shut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
