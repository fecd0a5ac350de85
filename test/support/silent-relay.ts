// A TCP relay in front of a local server, like a load balancer whose other side is gone: open connections that fall
// silent still accept and acknowledge everything, and pass nothing on. New ones work.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `toServer`: requests get lost. `fromServer`: requests arrive, and their answers get lost. */
export type SilentWay = 'toServer' | 'fromServer' | 'both';

export interface SilentRelay {
  /** The address of the server, through the relay. */
  readonly url: string;
  /** Opened since the start. */
  readonly connections: () => number;
  /** Silences all open connections for good; returns their number. */
  readonly silence: (way: SilentWay) => number;
  readonly close: () => Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

export async function startSilentRelay(target: string): Promise<SilentRelay> {
  const { protocol, hostname, port } = new URL(target);
  const open = new Set<Pair>();
  let connections = 0;
  const relay = createServer((client) => {
    connections++;
    const server = connect(Number(port), hostname);
    const pair = { client, server };
    open.add(pair);
    client.pipe(server).pipe(client);
    const end = (): void => {
      open.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).once('close', end);
  });
  await new Promise<void>((resolve) => {
    relay.listen(0, '127.0.0.1', resolve);
  });
  const { port: own } = relay.address() as AddressInfo;

  return {
    url: `${protocol}//127.0.0.1:${own}`,
    connections: () => connections,
    silence: (way) => {
      for (const { client, server } of open) {
        if (way !== 'fromServer') client.unpipe(server).resume();
        if (way !== 'toServer') server.unpipe(client).resume();
      }
      return open.size;
    },
    close: () =>
      new Promise((resolve) => {
        relay.close(() => resolve());
        for (const { client, server } of open) {
          client.destroy();
          server.destroy();
        }
      }),
  };
}
