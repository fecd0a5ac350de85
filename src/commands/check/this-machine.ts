// The machine that a command runs on, as far as the command check asks it.
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ListenAddress } from '../../observability/listen-address.ts';
import { readStatus } from '../status/served-report.ts';
import type { PortTrial } from './port-findings.ts';

export interface Machine {
  /** Addresses of its network interfaces. In a pod outside the network of its host, those are of the pod. */
  addresses(): ReadonlySet<string>;
  /** Whether a process could listen there. What listens to find out ends at once. */
  tryPort(address: ListenAddress): Promise<PortTrial>;
}

/** Time that a program on the port has to say that it is a controller, in ms. */
const answersWithin = 2000;

export const thisMachine: Machine = {
  addresses: () =>
    new Set(Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))),
  tryPort: async (address) => {
    const code = await listenOnce(address);
    if (code === undefined) return { kind: 'free' };
    if (code !== 'EADDRINUSE') return { kind: 'refused', why: code };
    const { host = '127.0.0.1', port } = address;
    const way = { host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port };
    const read = await readStatus(() => Promise.resolve(way), { limit: answersWithin });
    return typeof read === 'string'
      ? { kind: 'refused', why: 'another program has the port' }
      : { kind: 'ofHeadwater' };
  },
};

/** The code of what went wrong; undefined if nothing did. */
function listenOnce({ host, port }: ListenAddress): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  return promise;
}
