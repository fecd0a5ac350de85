// Which parts of an agent give it addresses, by mode.
import type { CloudMode } from '../config/clouds/clouds.ts';
import { cidrText, families, type Family } from '../blocks/set/cidr.ts';
import type { AgentSettings } from './agent-settings.ts';
import { readCiliumNodeBlocks } from '../kubernetes/cilium-node/cilium-node-blocks.ts';
import { readNodeBlocks } from '../kubernetes/node/node-blocks.ts';
import { type JsonObject, valueAt } from '../runtime/json.ts';
import { steppedDemand } from '../blocks/set/stepped-demand.ts';
import { linearDemand } from './allocators/block-balance.ts';
import type { Holdings } from './ipam/holdings.ts';
import type { Ipam } from './ipam/ipam.ts';
import { failed, ok } from './ipam/ipam-error.ts';
import { PoolDemand } from './ipam/pool-demand.ts';
import { onlyDefault, type PoolDirectory } from './ipam/pools.ts';
import type { NodePods } from './metadata/node-pods.ts';
import { PoolCatalog } from './metadata/pool-catalog.ts';
import type { AddressSource } from './own-node/address-source.ts';
import { BlockKeeper } from './own-node/block-keeper.ts';
import { newCiliumNodeSpec, OwnNode, type OwnNodeOptions, type Surroundings } from './own-node/own-node.ts';
import { OfferedAddresses } from './own-node/offered-addresses.ts';
import type { WritingSourceOptions } from './own-node/writing-source.ts';
import { PooledBlocks, type ShownBlock } from './own-node/pooled-blocks.ts';
import { shownInterfaces } from './own-node/shown-interfaces.ts';
import { listedBlocks } from './own-node/shown-pools.ts';

export interface SourceOptions {
  readonly settings: AgentSettings;
  readonly holdings: Holdings;
  readonly surroundings: Omit<Surroundings, 'transport'>;
  /** Undefined with host-scope. */
  readonly transport: Surroundings['transport'] | undefined;
  readonly pods: NodePods | undefined;
  /** The spec of a CiliumNode that this agent creates. */
  readonly spec: JsonObject;
  /** Called when a pool, or what says which pool a pod gets, changes. */
  readonly onPools: () => void;
}

export interface Addressing {
  readonly directory: PoolDirectory;
  /** Undefined: nothing but what the options name, or nothing at all. */
  readonly source: (ipam: Ipam) => AddressSource | undefined;
}

export function addressing(options: SourceOptions): Addressing {
  const { settings, transport } = options;
  const { mode, protocol } = settings;
  if (mode === 'delegated-plugin') return { directory: onlyDefault, source: () => undefined };
  if (mode === 'host-scope' || transport === undefined)
    return { directory: onlyDefault, source: (ipam) => withoutSource(options, ipam) };
  const parts = { ...options, surroundings: { ...options.surroundings, transport } };
  switch (mode) {
    case 'kubernetes':
    case 'cluster-pool':
      return { directory: onlyDefault, source: (ipam) => blockSource(parts, ipam) };
    case 'multi-pool':
      return multiPool(parts);
    case 'crd':
      return offered(parts, mode);
    default:
      return protocol === 'used' ? offered(parts, mode) : cloudPools(parts, mode);
  }
}

type Parts = SourceOptions & { readonly surroundings: Surroundings };

function newSpecOf({ settings, spec }: SourceOptions): OwnNodeOptions['newSpec'] {
  const { mode, createsCiliumNode } = settings;
  return createsCiliumNode ? (node) => newCiliumNodeSpec(mode, node, spec) : undefined;
}

function writing(parts: Parts, ipam: Ipam, demand: PoolDemand): WritingSourceOptions {
  const { surroundings, settings } = parts;
  const { nodeName: name, updateRate } = settings;
  return { surroundings, ipam, demand, name, updateRate, newSpec: newSpecOf(parts) };
}

function keeperOf({ settings, surroundings }: SourceOptions, ipam: Ipam): BlockKeeper {
  const { ranges, enabled, mode } = settings;
  const { random, log } = surroundings;
  return new BlockKeeper({ ipam, random, log, ranges, enabled, follows: mode !== 'host-scope' });
}

function withoutSource(options: SourceOptions, ipam: Ipam): undefined {
  keeperOf(options, ipam).start();
}

function blockSource(parts: Parts, ipam: Ipam): AddressSource {
  const keeper = keeperOf(parts, ipam);
  keeper.start();
  const isNode = parts.settings.mode === 'kubernetes';
  const read = isNode ? readNodeBlocks : readCiliumNodeBlocks;
  const ownNode = new OwnNode(
    {
      kind: isNode ? 'Node' : 'CiliumNode',
      name: parts.settings.nodeName,
      field: isNode ? 'spec.podCIDRs' : 'spec.ipam.podCIDRs',
      newSpec: isNode ? undefined : newSpecOf(parts),
      onObject: (raw) => keeper.take(read(raw).podCidrs),
    },
    parts.surroundings,
  );
  return {
    get missing() {
      return ownNode.missing;
    },
    synced: ownNode.synced,
    run: (signal) => ownNode.run(signal),
    notice: ({ kind }) => {
      if (kind === 'released') keeper.notice();
    },
    update: () => keeper.notice(),
    refresh: () => undefined,
  };
}

function offered(parts: Parts, mode: CloudMode | 'crd'): Addressing {
  const demand = new PoolDemand(parts.surroundings.clock, parts.holdings, linearDemand, new Map());
  return {
    directory: {
      ...onlyDefault,
      absence: (pool, family) =>
        pool === onlyDefault.defaultPool
          ? failed('poolNotReady', 'No IPs available')
          : onlyDefault.absence(pool, family),
    },
    source: (ipam) => new OfferedAddresses(mode, writing(parts, ipam, demand)),
  };
}

/** Free addresses to hold until the CiliumNode names a count. */
const initialPreAllocation = 8;

function cloudPools(parts: Parts, mode: CloudMode): Addressing {
  const { enabled } = parts.settings;
  const { defaultPool } = onlyDefault;
  const preAllocation = new Map([[defaultPool, initialPreAllocation]]);
  const demand = new PoolDemand(parts.surroundings.clock, parts.holdings, linearDemand, preAllocation);
  const served = families.filter((family) => enabled[family] ?? family === 'ipv4');
  const familiesOf = (pool: string): readonly Family[] => (pool === defaultPool ? served : []);
  return {
    directory: {
      defaultPool,
      poolFor: () => ok(defaultPool),
      familiesOf,
      absence: (pool, family) => {
        if (pool !== defaultPool) return onlyDefault.absence(pool, family);
        const problem = `unable to allocate from pool "${pool}" (family ${family}): pool not (yet) available`;
        return failed('poolNotReady', problem);
      },
      needed: (pool, family) => demand.needed(pool, family),
    },
    source: (ipam) =>
      new PooledBlocks(writing(parts, ipam, demand), {
        read: (raw) => cloudBlocks(mode, raw),
        preAllocationIn: (raw) => Number(valueAt(raw, 'spec', 'ipam', 'pre-allocate') ?? 0) || 0,
        familiesOf,
        // Single addresses: each change would write all of them.
        remembers: false,
      }),
  };
}

/**
 * Addresses and prefixes of interfaces that pods may use. All addresses of a prefix of IPv4 count; one of IPv6 has enough that
 * the first can be the gateway of pods.
 */
function cloudBlocks(mode: CloudMode, raw: JsonObject): readonly ShownBlock[] {
  const listed = listedBlocks(raw).blocks.filter(({ pool }) => pool === onlyDefault.defaultPool);
  const isListed = (cidr: ShownBlock['cidr']): boolean =>
    listed.some((each) => cidrText(each.cidr) === cidrText(cidr));
  return shownInterfaces(mode, raw)
    .filter(({ isExcluded }) => !isExcluded)
    .flatMap(({ networks, details, lacks }) =>
      networks
        .filter(({ family }) => lacks[family] === undefined)
        .map((cidr) => ({
          pool: onlyDefault.defaultPool,
          cidr,
          details: details[cidr.family],
          allowsFirst: cidr.family === 'ipv4',
          allowsLast: true,
          isListed: isListed(cidr),
        })),
    );
}

function multiPool(parts: Parts): Addressing {
  const { settings, pods, onPools, holdings, surroundings } = parts;
  const { defaultPool, preAllocation, enabled } = settings;
  if (pods === undefined) throw new Error('the mode multi-pool needs the pods of its node');
  const demand = new PoolDemand(surroundings.clock, holdings, steppedDemand, preAllocation);
  const catalog = new PoolCatalog({ pods, demand, defaultPool, holdings, onChange: onPools }, surroundings);
  let told = '';
  const read = (raw: JsonObject): readonly ShownBlock[] => {
    const { blocks, problems } = listedBlocks(raw);
    const text = problems.join('; ');
    if (text !== told && text !== '') surroundings.log.warn('a block cannot be used', { problems });
    told = text;
    return blocks.map((block) => shownBlock(block, catalog, settings));
  };
  return {
    directory: catalog,
    source: (ipam) => {
      const source = new PooledBlocks(writing(parts, ipam, demand), {
        read,
        catalog,
        familiesOf: (pool) => catalog.familiesOf(pool).filter((family) => enabled[family] !== false),
        remembers: true,
      });
      source.start();
      return source;
    },
  };
}

function shownBlock(
  block: ReturnType<typeof listedBlocks>['blocks'][number],
  catalog: PoolCatalog,
  { masqueradesDefaultOnly, defaultPool }: AgentSettings,
): ShownBlock {
  const pool = catalog.pool(block.pool);
  const networks = pool?.[block.cidr.family];
  const skips = pool?.skipsMasquerade === true || (masqueradesDefaultOnly && block.pool !== defaultPool);
  return {
    ...block,
    allowsFirst: block.allowsFirst || networks?.allowFirstIp === true,
    allowsLast: block.allowsLast || networks?.allowLastIp === true,
    details: { skipsMasquerade: skips },
    isListed: true,
  };
}
