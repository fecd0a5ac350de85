// Whether the blocks that CiliumNodes show fit the networks and each other: the judgement of the controller, before it runs. Pure.
import type { AllocationPolicy } from '../../blocks/allocation/allocation-policy.ts';
import { askedMaskSizes } from '../../blocks/allocation/asked-mask-size.ts';
import type { Holder } from '../../blocks/allocation/block-holders.ts';
import { BlockLedger } from '../../blocks/allocation/block-ledger.ts';
import { BlockOfEachFamily } from '../../blocks/allocation/block-of-each-family.ts';
import { NodeClaims } from '../../blocks/allocation/node-claims.ts';
import { bySeniority } from '../../blocks/allocation/seniority.ts';
import { clusterPoolHolder } from '../../blocks/cluster-pool/cilium-node-holders.ts';
import { moveOf } from '../../blocks/multi-pool/migration.ts';
import { type PoolNodeHolder, poolNodeHolder } from '../../blocks/multi-pool/pool-node-holder.ts';
import { PoolPolicy } from '../../blocks/multi-pool/pool-policy.ts';
import { harmlessReasons } from '../../blocks/modes/block-status-report.ts';
import { poolToCreate } from '../../blocks/modes/pool-creation.ts';
import { blockSettings } from '../../blocks/settings/block-pools.ts';
import type { Options } from '../../config/option-table.ts';
import { readCiliumPodIpPool } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { readIdentity } from '../../kubernetes/object-identity.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import type { Fact } from './fact.ts';
import { type Finding, rowPerText, rowsAbout } from './finding.ts';

const rows = rowsAbout('blocks');

/** As they were read. */
export interface BlockObjects {
  readonly nodes: Fact<readonly JsonObject[]>;
  readonly ciliumNodes: Fact<readonly JsonObject[]>;
  /** CiliumPodIPPools. */
  readonly pools: Fact<readonly JsonObject[]>;
}

/** Nothing without CiliumNodes: that they cannot be read is said elsewhere. */
export function blockFindings(
  { nodes: shown, ciliumNodes: read, pools }: BlockObjects,
  options: Options,
): readonly Finding[] {
  if (read.kind === 'unknown') return [];
  // Who may not read Nodes cannot tell which CiliumNodes lack theirs.
  const nodes = shown.kind === 'known' ? shown.value : undefined;
  const ciliumNodes = read.value;
  if (options.ipam !== 'multi-pool') return clusterPoolFindings({ nodes, ciliumNodes }, options);
  return pools.kind === 'known'
    ? multiPoolFindings({ nodes, ciliumNodes }, pools.value, options)
    : [rows.unknown(`CiliumPodIPPools cannot be read: ${pools.problem}`)];
}

interface ReadObjects {
  readonly nodes: readonly JsonObject[] | undefined;
  readonly ciliumNodes: readonly JsonObject[];
}

const writesNothing = (): Promise<never> => Promise.reject(new Error('a check writes nothing'));
const writer = { assign: writesNothing, patch: writesNothing, supersede: writesNothing, read: writesNothing };

function clusterPoolFindings({ nodes, ciliumNodes }: ReadObjects, options: Options): readonly Finding[] {
  const ledger = BlockLedger.ofOnePool(blockSettings(options, 'cluster-pool'));
  const byName = new Map((nodes ?? []).map((raw) => [readIdentity(raw).name, raw]));
  const policy = new BlockOfEachFamily({
    ledger,
    writer,
    claims: claimsOf(ledger, nodes, options),
    nodes: {
      askedFor: ({ name }) =>
        askedMaskSizes((label) => textAt(byName.get(name), 'metadata', 'labels', label)),
    },
    words: {
      object: 'CiliumNode',
      moreBlocks: 'add a network to --cluster-pool-ipv4-cidr or --cluster-pool-ipv6-cidr',
    },
    canGrow: true,
    biggerShare: options.biggerBlocksShare,
  });
  const holders = ciliumNodes.map((raw) => clusterPoolHolder(raw, options.ipamDefaultIpPool));
  return faultsOf(policy, held(policy, holders));
}

function multiPoolFindings(
  { nodes, ciliumNodes }: ReadObjects,
  pools: readonly JsonObject[],
  options: Options,
): readonly Finding[] {
  const ledger = new BlockLedger([]);
  const policy = new PoolPolicy(ledger, { writer, claims: claimsOf(ledger, nodes, options) });
  const names = new Set(pools.map((raw) => readIdentity(raw).name));
  // Those that an option names are made at the start.
  const made = [...options.autoCreateCiliumPodIpPools]
    .filter(([name]) => !names.has(name))
    .map(([name, spec]) => poolToCreate(name, spec));
  const read = [...pools.map(readCiliumPodIpPool), ...made].toSorted(bySeniority);
  policy.changePools(read.map((pool) => [pool.name, pool] as const));
  const wrong = read.flatMap(({ name }) => {
    const problem = policy.book.get(name)?.problem;
    if (problem === undefined) return [];
    return [rows.problem(sanitizedText(`the CiliumPodIPPool ${name} gives out nothing: ${problem}`, 500))];
  });
  const holders = held(policy, ciliumNodes.map(poolNodeHolder));
  noteUnmoved(policy, holders, options);
  return [...wrong, ...faultsOf(policy, holders)];
}

/** The blocks of cluster-pool that cannot move at the start. */
function noteUnmoved(policy: PoolPolicy, holders: readonly PoolNodeHolder[], options: Options): void {
  const { enableClusterPoolToMultiPoolMigration: moves, ipamDefaultIpPool: pool } = options;
  for (const holder of moves ? holders : []) {
    const move = moveOf(holder, pool, policy.book.get(pool));
    if (move.kind === 'refused') policy.noteUnmoved(holder, move.why);
  }
}

function claimsOf(ledger: BlockLedger, nodes: ReadObjects['nodes'], options: Options): NodeClaims {
  const names = nodes && new Set(nodes.map((raw) => readIdentity(raw).name));
  return new NodeClaims(ledger, options.maxBlocksWithoutNode, (name) => names?.has(name));
}

/** Holds everything that objects show, that of the oldest first. */
function held<H extends Holder>(policy: AllocationPolicy<H>, holders: readonly H[]): readonly H[] {
  const oldestFirst = holders.toSorted(bySeniority);
  for (const holder of oldestFirst) policy.hold(holder, undefined);
  return oldestFirst;
}

/** `holders`: those that the policy holds. */
function faultsOf<H extends Holder>(policy: AllocationPolicy<H>, holders: readonly H[]): readonly Finding[] {
  const faults = holders.flatMap((holder) => {
    const facts = { isWaiting: policy.missingBlocks(holder).length > 0, refused: undefined, isPaused: false };
    const condition = holder.isIgnored === true ? undefined : policy.conditionOf(holder, facts);
    if (condition === undefined) return [];
    const { reason: text, message } = condition;
    return [{ name: sanitizedText(holder.name), text, message }];
  });
  if (faults.length === 0)
    return [rows.ok(`those of ${holders.length} CiliumNodes fit the networks, and none is on two`)];
  return rowPerText(faults, 'CiliumNode', (reason, names, { name, text, message }) =>
    rows[harmlessReasons.has(text) ? 'warning' : 'problem'](
      sanitizedText(`${names}: ${reason}; of ${name}: ${message}`, 1000),
      `see ${reason} in docs/reasons.md, and compare the networks of the options with those of cilium-operator`,
    ),
  );
}
