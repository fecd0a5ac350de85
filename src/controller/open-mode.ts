// Chooses the mode of a process and connects what it needs. Each mode is loaded only where it runs: blocks of
// networks load no cloud.
import type { OptionCommand } from '../config/option-scope.ts';
import type { ServedKind } from '../observability/metrics.ts';
import type { CloudConnection } from './clouds/cloud.ts';
import type { Mode, ModeDeps } from './host.ts';

/** A mode that is ready to be composed. */
export interface OpenedMode {
  readonly serves: ServedKind;
  readonly compose: (deps: ModeDeps) => Mode<object, { readonly known: boolean }>;
  /** Closes connections that the mode alone uses. */
  readonly close: () => void;
}

/** Throws NotStartable. */
export async function openMode(
  command: OptionCommand,
  connection: CloudConnection,
  stop: AbortSignal,
): Promise<OpenedMode> {
  switch (command === 'nodeipam' ? command : connection.options.ipam) {
    case 'nodeipam':
      return openNodeIpam(connection, stop);
    case 'cluster-pool': {
      const { clusterPoolMode } = await import('../blocks/modes/cluster-pool-mode.ts');
      return { serves: 'blocks', compose: clusterPoolMode, close: () => undefined };
    }
    case 'multi-pool': {
      const { multiPoolMode } = await import('../blocks/modes/multi-pool-mode.ts');
      return { serves: 'blocks', compose: multiPoolMode, close: () => undefined };
    }
    default:
      return openCloud(connection, stop);
  }
}

async function openNodeIpam(connection: CloudConnection, stop: AbortSignal): Promise<OpenedMode> {
  const { cidrAllocatorType } = connection.options;
  const { nodeIpamMode, cloudAllocatorMode, cloudSyncMode } = await import('../blocks/modes/node-modes.ts');
  if (cidrAllocatorType === 'RangeAllocator')
    return { serves: 'blocks', compose: nodeIpamMode, close: () => undefined };
  const { connectToAliases } = await import('./clouds/registry.ts');
  const { compose, close } = await connectToAliases(connection, stop);
  return cidrAllocatorType === 'CloudAllocator'
    ? { serves: 'blocksOfCloud', compose: (deps) => cloudAllocatorMode(deps, compose), close }
    : { serves: 'blocks', compose: (deps) => cloudSyncMode(deps, cidrAllocatorType, compose), close };
}

async function openCloud(connection: CloudConnection, stop: AbortSignal): Promise<OpenedMode> {
  const [{ EniMode }, { connectToCloud }] = await Promise.all([
    import('./eni/eni-mode.ts'),
    import('./clouds/registry.ts'),
  ]);
  const cloud = await connectToCloud(connection, stop);
  return { serves: 'addresses', compose: (deps) => new EniMode(deps, cloud.compose), close: cloud.close };
}
