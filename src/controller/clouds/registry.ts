// The clouds that Headwater serves, by the option ipam. Only this file imports a cloud, and only the chosen one: the
// sources of the others, and their SDKs, stay unread.
import type { Options } from '../../config/option-table.ts';
import { type Cloud, type CloudConnection, type CloudDeps, NotStartable } from './cloud.ts';

export interface ConnectedCloud {
  readonly compose: (deps: CloudDeps) => Cloud;
  readonly close: () => void;
}

/** Chooses endpoint and credentials. Throws NotStartable. */
type Connect = (connection: CloudConnection, signal: AbortSignal) => Promise<ConnectedCloud>;

const clouds: { readonly [Mode in Options['ipam']]?: Connect } = {
  eni: async (connection, signal) => {
    const { connectToAws } = await import('./connect-to-aws.ts');
    const { composeAws } = await import('./aws.ts');
    const api = await connectToAws(connection, signal);
    return { compose: (deps) => composeAws(api, deps), close: () => api.close() };
  },
  azure: async (connection, signal) => {
    const { connectToAzure } = await import('./connect-to-azure.ts');
    const { composeAzure } = await import('./azure.ts');
    const connected = await connectToAzure(connection, signal);
    return { compose: (deps) => composeAzure(connected, deps), close: () => connected.api.close() };
  },
};

/** Loads the chosen cloud and connects to it. Throws NotStartable. */
export function connectToCloud(connection: CloudConnection, signal: AbortSignal): Promise<ConnectedCloud> {
  const { ipam } = connection.options;
  const connect = clouds[ipam];
  if (connect !== undefined) return connect(connection, signal);
  const served = Object.keys(clouds).map((mode) => `--ipam=${mode}`);
  const remedy = `this version serves ${served.join(' and ')}`;
  throw new NotStartable(`--ipam=${ipam} cannot be served: ${remedy}`, { kind: 'usage' });
}
