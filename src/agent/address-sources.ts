// Which parts of an agent give it addresses, by mode.
import type { AgentSettings } from '../config/agent-settings.ts';
import { readCiliumNodeBlocks } from '../kubernetes/cilium-node/cilium-node-blocks.ts';
import { readNodeBlocks } from '../kubernetes/node/node-blocks.ts';
import { isObject, type JsonObject } from '../kubernetes/transport/json.ts';
import type { Ipam } from './ipam/ipam.ts';
import type { AddressSource } from './own-node/address-source.ts';
import { BlockKeeper } from './own-node/block-keeper.ts';
import { newCiliumNodeSpec } from './own-node/new-spec.ts';
import { OfferedAddresses } from './own-node/offered-addresses.ts';
import { OwnNode, type Surroundings } from './own-node/own-node.ts';
import type { AddressRecord } from './record/record.ts';

export interface SourceOptions extends Omit<Surroundings, 'transport'> {
  readonly settings: AgentSettings;
  readonly ipam: Ipam;
  readonly record: AddressRecord;
  /** Undefined with host-scope. */
  readonly transport: Surroundings['transport'] | undefined;
  /** Of a CiliumNode that is created. */
  readonly spec: JsonObject;
}

/** Undefined: nothing but what the options name, or nothing at all. */
export function addressSource(options: SourceOptions): AddressSource | undefined {
  const { settings, transport, ipam, spec } = options;
  const { mode, nodeName: name, updateRate, createsCiliumNode } = settings;
  if (mode === 'delegated-plugin' || mode === 'multi-pool') return undefined;
  if (mode === 'host-scope' || transport === undefined) {
    keeperOf(options).start();
    return undefined;
  }
  const newSpec = createsCiliumNode
    ? (node: JsonObject): JsonObject => newCiliumNodeSpec(mode, node, spec)
    : undefined;
  const parts = { ...options, transport, name, newSpec, updateRate };
  switch (mode) {
    case 'kubernetes':
      return blockSource(options, { ...parts, newSpec: undefined, kind: 'Node', field: 'spec.podCIDRs' });
    case 'cluster-pool':
      return blockSource(options, { ...parts, kind: 'CiliumNode', field: 'spec.ipam.podCIDRs' });
    default:
      return new OfferedAddresses({ ...parts, ipam, mode });
  }
}

function keeperOf(options: SourceOptions): BlockKeeper {
  const { ranges, mode } = options.settings;
  return new BlockKeeper({ ...options, ranges, follows: mode !== 'host-scope' });
}

type Followed = ConstructorParameters<typeof OwnNode>[0];

function blockSource(options: SourceOptions, followed: Omit<Followed, 'onObject'>): AddressSource {
  const keeper = keeperOf(options);
  keeper.start();
  const read = followed.kind === 'Node' ? readNodeBlocks : readCiliumNodeBlocks;
  const ownNode = new OwnNode({ ...followed, onObject: (raw) => keeper.take(read(raw).podCidrs) });
  return {
    get missing() {
      return ownNode.missing;
    },
    synced: ownNode.synced,
    run: (signal) => ownNode.run(signal),
    notice: () => undefined,
    update: () => undefined,
  };
}

/** The text of a file with a spec, or why it cannot be used. */
export function readSpec(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : 'it is no JSON object';
  } catch (error) {
    return (error as Error).message;
  }
}
