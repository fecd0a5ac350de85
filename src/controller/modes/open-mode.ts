// Chooses the mode of a process and connects what it needs. Each mode is loaded only where it runs: blocks to nodes load no
// cloud.
import type { OptionCommand } from '../../config/option-scope.ts';
import type { AwsConnection } from '../clouds/connect-to-aws.ts';
import type { Mode, ModeDeps } from './mode.ts';

/** A mode that is ready to be composed. */
export interface OpenedMode {
  readonly compose: (deps: ModeDeps) => Mode<object, { readonly known: boolean }>;
  /** Closes connections that the mode alone uses. */
  readonly close: () => void;
}

export type ModeConnection = AwsConnection & {
  readonly options: Pick<ModeDeps['options'], 'ipam'>;
};

/** Throws NotStartable. */
export async function openMode(
  command: OptionCommand,
  connection: ModeConnection,
  stop: AbortSignal,
): Promise<OpenedMode> {
  switch (command === 'nodeipam' ? command : connection.options.ipam) {
    case 'nodeipam': {
      const { nodeIpamMode } = await import('./node-ipam-mode.ts');
      return { compose: nodeIpamMode, close: () => undefined };
    }
    case 'cluster-pool': {
      const { clusterPoolMode } = await import('./cluster-pool-mode.ts');
      return { compose: clusterPoolMode, close: () => undefined };
    }
    case 'eni':
      return openEni(connection, stop);
  }
}

async function openEni(connection: AwsConnection, stop: AbortSignal): Promise<OpenedMode> {
  const [{ EniMode }, { composeAws }, { connectToAws }] = await Promise.all([
    import('./eni-mode.ts'),
    import('../clouds/aws.ts'),
    import('../clouds/connect-to-aws.ts'),
  ]);
  const api = await connectToAws(connection, stop);
  return {
    compose: (deps) => new EniMode(deps, (cloud) => composeAws(api, cloud)),
    close: () => api.close(),
  };
}
