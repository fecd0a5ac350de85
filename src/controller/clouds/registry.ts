// The clouds that Headwater serves, by the option ipam, or by cloud-provider where the pod CIDRs of Nodes follow a cloud. Only
// this file imports a cloud, and only the chosen one: the sources of the others, and their SDKs, stay unread.
import type { Options } from '../../config/option-table.ts';
import { type AliasCloud, type Cloud, type CloudConnection, type CloudDeps, NotStartable } from './cloud.ts';

export interface ConnectedCloud<C = Cloud> {
  readonly compose: (deps: CloudDeps) => C;
  readonly close: () => void;
}

/** Chooses endpoint and credentials. Throws NotStartable. */
type Connect<C = Cloud> = (connection: CloudConnection, signal: AbortSignal) => Promise<ConnectedCloud<C>>;

const clouds: { readonly [Mode in Options['ipam']]?: Connect } = {
  eni: async (connection, signal) => {
    const { connectToAws } = await import('./connect-to-aws.ts');
    const { composeAws } = await import('./aws.ts');
    const { networkAccountRole } = await import('./network-account.ts');
    const api = await connectToAws(connection, signal);
    const role = networkAccountRole(connection.options);
    const ofNetworkAccount = role && api.assuming(role);
    return {
      compose: (deps) => composeAws(api, deps, ofNetworkAccount),
      close: () => [api, ofNetworkAccount].forEach((each) => each?.close()),
    };
  },
  azure: async (connection, signal) => {
    const { connectToAzure } = await import('./connect-to-azure.ts');
    const { composeAzure } = await import('./azure.ts');
    const connected = await connectToAzure(connection, signal);
    return { compose: (deps) => composeAzure(connected, deps), close: () => connected.api.close() };
  },
  alibabacloud: async (connection, signal) => {
    const { connectToAlibaba } = await import('./connect-to-alibaba.ts');
    const { composeAlibaba } = await import('./alibaba.ts');
    const connected = await connectToAlibaba(connection, signal);
    return { compose: (deps) => composeAlibaba(connected, deps), close: () => connected.api.close() };
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

const aliasClouds: { readonly [Name in NonNullable<Options['cloudProvider']>]?: Connect<AliasCloud> } = {
  aws: async (connection, signal) => {
    const { connectToAws } = await import('./connect-to-aws.ts');
    const { composeAwsAliases } = await import('./aws.ts');
    const api = await connectToAws(connection, signal);
    return { compose: (deps) => composeAwsAliases(api, deps), close: () => api.close() };
  },
  gce: async (connection) => {
    const { connectToGce } = await import('./connect-to-gce.ts');
    const { composeGceAliases } = await import('./gce.ts');
    const api = connectToGce(connection);
    return { compose: (deps) => composeGceAliases(api, deps), close: () => api.close() };
  },
};

/** The same for what a cloud routes to instances. Throws NotStartable. */
export function connectToAliases(
  connection: CloudConnection,
  signal: AbortSignal,
): Promise<ConnectedCloud<AliasCloud>> {
  const { cloudProvider } = connection.options;
  const connect = cloudProvider && aliasClouds[cloudProvider];
  if (connect !== undefined) return connect(connection, signal);
  const served = Object.keys(aliasClouds).join(' and ');
  const remedy = `this version serves ${served}`;
  throw new NotStartable(`--cloud-provider=${cloudProvider} cannot be served: ${remedy}`, { kind: 'usage' });
}
