// What a thousand seeds must hit: fault kind × operation, kill point × operation, and each state of a release handshake
// during a kill, a restart or an external change.
import { callPhases, mutations, portCalls } from './draw-faults.ts';
import { hostileActions } from './draw-hostile.ts';
import { listedKinds } from './draw-restrictions.ts';
import { silentWays } from './draw-silence.ts';

const cloudFaults = [
  'error',
  'throttle',
  'slow',
  'lost before',
  'lost after',
  'lost late',
  'garbled',
] as const;
const reads = ['DescribeNetworkInterfaces', 'DescribeInstances', 'DescribeSubnets'] as const;
const frozenPhases = ['once it is sent', 'before its answer is taken in'] as const;
const openHandshakes = ['none', 'marked', 'ready', 'refused', 'released', 'hidden'] as const;

export const declaredCells: ReadonlySet<string> = new Set([
  ...product(['cloud'], cloudFaults, [...mutations, ...reads]),
  ...product(['kill'], portCalls, callPhases),
  ...product(['kill in handshake'], ['patch spec', 'patch status'], callPhases, openHandshakes),
  ...product(['kill in handshake'], ['UnassignPrivateIpAddresses'], callPhases, ['ready', 'hidden']),
  ...product(['freeze'], portCalls, frozenPhases),
  ...product(['terminate'], mutations),
  ...product(['restart-agent'], openHandshakes),
  ...product(['change-agent'], ['multi-pool', 'crd-allocator'], ['none', 'marked', 'ready', 'hidden']),
  ...product(
    ['foreign'],
    ['unassign-free', 'unassign-used', 'assign', 'detach', 'leave-loose', 'delete-loose'],
  ),
  ...product(['watch'], ['delay', 'duplicate', 'cut', 'close', 'expire']),
  ...product(
    ['api'],
    ['conflict', 'internal-error', 'too-many', 'drop-before', 'drop-after', 'delay'],
    ['PATCH'],
    ['ciliumnodes', 'ciliumnodes/[^/]+/status'],
  ),
  ...product(
    ['api'],
    ['conflict', 'internal-error', 'drop-before', 'drop-after', 'delay'],
    ['PUT'],
    ['leases'],
  ),
  ...product(['hostile'], hostileActions),
  ...product(['restrict'], ['first-interface-index', 'max-allocate']),
  ...product(['empty-list'], listedKinds),
  ...product(['silence'], silentWays),
  ...product(['replace-node'], ['same name', 'another name']),
  ...product(['touch-node'], ['patch spec', 'patch status']),
  ...product(['clock-jump'], ['back', 'ahead']),
  ...product(['lease'], ['delete', 'steal']),
  ...product(['throttle-storm'], ['*']),
  ...product(['omission'], ['interface', 'addresses'], ['next reading', 'next leader']),
  ...product(['blind'], ['region', 'interfaces', 'primaries', 'instances', 'secondaries']),
  ...product(['grab'], ['deaf', 'hearing']),
  ...product(['stall'], ['marked', 'refused', 'released']),
  ...product(['straggle'], ['heard', 'heard late']),
  'ambush from outside the cloud',
  'snatch',
  'convert',
  'outlive',
  'zone-loss',
  'forgotten-zone',
  'scale-down',
  'squeeze',
  'fragment',
  'api-away',
  'restart-controller',
  'two leaders',
  'stale-listings',
  'torn-listings',
  'slow-visibility',
]);

function product(...axes: readonly (readonly string[])[]): readonly string[] {
  return axes.reduce<readonly string[]>(
    (cells, axis) =>
      cells.flatMap((cell) => axis.map((value) => (cell === '' ? value : `${cell} | ${value}`))),
    [''],
  );
}
