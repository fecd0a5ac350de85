// Deliberate mistakes in what gives blocks to nodes. The simulation of blocks must detect each.
import type { Mutant } from '../mutant.ts';

const one = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file, from, to }],
});

/** Those that the first seeds detect go first. */
export const blockMutants: readonly Mutant[] = [
  one(
    'gives out what a killed leader may still write',
    'blocks/allocation/allocator.ts',
    'if (mayFormerWrite)\n',
    'if (mayFormerWrite && added.length === 0)\n',
  ),
  one(
    'never collects CiliumNodes',
    'kubernetes/cilium-node/cilium-node-gc.ts',
    'for (const node of plan.due) {',
    'for (const node of plan.due.slice(0, 0)) {',
  ),
  one(
    'gives out blocks while a list is taken in',
    'blocks/modes/block-watch.ts',
    "this.isListed = phase === 'end';",
    "this.isListed = phase === 'end' || phase === 'begin';",
  ),
  one(
    'gives out blocks before the list is taken in',
    'blocks/allocation/allocator.ts',
    'const added = [...holders].toSorted(bySeniority).map((holder) => this.#add(holder));',
    'this.#hasStarted = true;\n    const added = [...holders].toSorted(bySeniority).map((holder) => {\n      const entry = this.#add(holder);\n      this.#assessEntry(entry);\n      return entry;\n    });',
  ),
  one(
    'a new leader trusts its watch, and lists nothing',
    'blocks/modes/block-mode.ts',
    'return this.#mode.objects.reflector.refresh();',
    'return Promise.resolve();',
  ),
  one(
    'frees the block of an object that is being deleted',
    'blocks/allocation/allocator.ts',
    'if (holder === undefined) return;\n    if (isSameObject)',
    'if (holder === undefined) return;\n    if (isSameObject && holder.isLeftAlone) return this.#remove(known);\n    if (isSameObject)',
  ),
  {
    name: 'frees a block whose write has no answer',
    edits: [
      {
        file: 'blocks/allocation/allocator.ts',
        from: "if (outcome.kind === 'unavailable') entry.unanswered = { version: holder.version, until };",
        to: 'void until;',
      },
      {
        file: 'blocks/allocation/allocator.ts',
        from: "else if (outcome.kind === 'unavailable') await this.#readAgain(entry, outcome.retryAfterMs);",
        to: "else if (outcome.kind === 'unavailable') this.#refuse(entry, { ...outcome, kind: 'invalid' });",
      },
    ],
  },
  one(
    'trusts an empty list',
    'blocks/modes/block-watch.ts',
    'verifyEmptyLists: true',
    'verifyEmptyLists: false',
  ),
  one(
    'counts a block as taken only if all of it is',
    'blocks/allocation/block-ledger.ts',
    'for (let index = range.first; index <= range.last; index++) shelf.set.take(index);\n    }\n  }\n\n  #strike',
    'for (let index = range.first; index <= range.last; index++)\n        if (holding.cidr.length <= shelf.pool.maskSize) shelf.set.take(index);\n    }\n  }\n\n  #strike',
  ),
  one(
    'forgets who waits when a block is free',
    'blocks/allocation/allocator.ts',
    '    this.#holders.forget?.(entry.holder);\n    this.#queue.serve();',
    '    this.#holders.forget?.(entry.holder);',
  ),
  one(
    'frees only the first family of an object that is gone',
    'blocks/allocation/block-of-each-family.ts',
    'ledger.release(uid, held) : []',
    'ledger.release(uid, held.slice(0, 1)) : []',
  ),
  one(
    'deletes a CiliumNode after one pass',
    'kubernetes/cilium-node/cilium-node-gc.ts',
    '<= now - interval)\n    .toSorted',
    '<= now)\n    .toSorted',
  ),
  one(
    'deletes a CiliumNode without asking for its Node',
    'kubernetes/cilium-node/cilium-node-gc.ts',
    'const isGone = await isNodeGone(node.name, signal);',
    'const isGone = await Promise.resolve(isNodeGone !== undefined);',
  ),
  one(
    'gives another block to an object whose write is repeated',
    'blocks/allocation/block-of-each-family.ts',
    'this.#ownBlock(known, family) ?? this.#allocate(known, family, asked, allocated)',
    'this.#allocate(known, family, asked, allocated)',
  ),
  one(
    'takes an object of the same name for the same object',
    'blocks/allocation/allocator.ts',
    'const isSameObject = known !== undefined && known.holder.uid === holder?.uid;',
    'const isSameObject = known !== undefined && holder !== undefined;',
  ),
  one(
    'gives bigger blocks that are not aligned',
    'blocks/set/block-set.ts',
    'return free & (alignedPlaces[bits] ?? 0);',
    'return free & (bits > maxTogetherBits ? 0 : full);',
  ),
  one(
    'frees a bigger block only in part',
    'blocks/allocation/block-ledger.ts',
    'for (let index = range.first; index <= range.last; index++)\n      if (!this.#isHeld',
    'for (let index = range.first; index <= range.first; index++)\n      if (!this.#isHeld',
  ),
  one(
    'gives a block before it has seen the Node',
    'blocks/modes/cluster-pool-mode.ts',
    "return nodeUid === undefined || this.nodes.problem !== undefined ? {} : 'unknown';",
    'return {};',
  ),
  one(
    'writes beyond the end of its lease',
    'blocks/modes/own-lease.ts',
    'return end !== undefined && clock.monotonic() + ms < end.monotonic && clock.wall() + ms < end.wall;',
    'return end !== undefined || ms + clock.wall() > 0;',
  ),
];

/** Those of pools. */
export const poolMutants: readonly Mutant[] = [
  one(
    'forgets the orphans of a pool that is gone',
    'blocks/allocation/block-ledger.ts',
    'for (const holding of new Set(loose)) {',
    'for (const holding of new Set(loose.slice(0, 0))) {',
  ),
  one(
    'applies the half of a pool change that is right',
    'blocks/multi-pool/pool-book.ts',
    'for (const { cidr } of cidrs) {',
    'for (const { cidr } of cidrs.slice(0, 1)) {',
  ),
  one(
    'takes away what an agent lists',
    'blocks/multi-pool/pool-policy.ts',
    'withBlocks(holder.rawAllocated, added, ',
    'withBlocks(holder.rawAllocated.slice(1), added, ',
  ),
  one(
    'gives blocks of one family only',
    'blocks/multi-pool/pool-policy.ts',
    'families.flatMap((family) =>\n        wantOf(',
    'families.slice(0, 1).flatMap((family) =>\n        wantOf(',
  ),
  one(
    'frees what an agent has when its list is empty',
    'blocks/multi-pool/pool-policy.ts',
    'const isWhole = listed.length > 0 && holder.problem === undefined;',
    'const isWhole = holder.problem === undefined;',
  ),
  one(
    'keeps what agents return',
    'blocks/multi-pool/pool-policy.ts',
    'const freed = [...this.#release(known, this.#mayGo(known, dropped)), ',
    'const freed = [...this.#release(known, this.#mayGo(known, dropped).slice(0, 0)), ',
  ),
  {
    name: 'frees what a write under way offers again to its node',
    edits: [
      {
        file: 'blocks/multi-pool/known-pool-node.ts',
        from: 'return version === holder.version ? added : [];',
        to: 'return version === holder.version ? added.slice(0, 0) : [];',
      },
      {
        file: 'blocks/multi-pool/pool-policy.ts',
        from: 'known.returns.noteOffer(known.added);',
        to: '',
      },
    ],
  },
  one(
    'serves nobody when a pool grows',
    'blocks/modes/multi-pool-mode.ts',
    'this.objects.allocator?.resume(counted.length === 0 ? undefined : this.#policy?.changePools(counted));',
    'if (counted.length === 0) this.objects.allocator?.resume();\n    else this.#policy?.changePools(counted);',
  ),
];

/** Those of Nodes and a cloud that are brought into accord. */
export const syncMutants: readonly Mutant[] = [
  one(
    'a backoff that never grows',
    'blocks/node-ipam/sync/sync-backoff.ts',
    'Math.min(2 * this.#last, maxBackoff)',
    'Math.min(this.#last, maxBackoff)',
  ),
  one(
    'does not give back the block that the cloud refuses',
    'blocks/node-ipam/sync/node-syncs.ts',
    'if (isHard && entry.taken !== undefined && entry.cancelTaken()) this',
    'if (isHard && entry.taken === undefined && entry.cancelTaken()) this',
  ),
  one(
    'leaves a Node half done when its write meets another state',
    'blocks/node-ipam/sync/sync-step.ts',
    'return taken !== undefined && isSame(alias, taken)',
    'return taken !== undefined && !isSame(alias, alias)',
  ),
  one(
    'never says that the network is available',
    'blocks/node-ipam/sync/node-syncs.ts',
    "if (holder.isNetworkReady || this.#ports.refusal() === 'dryRun') return this.#rest(entry);",
    'if (holder.name.length > 0) return this.#rest(entry);',
  ),
];

/** Those of Nodes that get what a cloud routes to their instances. */
export const cloudMutants: readonly Mutant[] = [
  one(
    'gives a Node what another one still shows',
    'blocks/node-ipam/cloud/alias-policy.ts',
    "if (plan.kind !== 'assign' || this.#obstacleTo(known, plan.cidrs) !== undefined) return undefined;",
    "if (plan.kind !== 'assign') return undefined;",
  ),
  one(
    'never sets the condition of a Node with its pod CIDRs',
    'blocks/node-ipam/cloud/alias-policy.ts',
    'return blocks.length > 0 && isNetworkReady;',
    'return blocks.length > 0 || isNetworkReady;',
  ),
  one(
    'asks a cloud again and again without a pause',
    'blocks/node-ipam/cloud/alias-reads.ts',
    'Math.max(entry.backoff.fail(), asked)',
    'Math.max(200, asked)',
  ),
  one(
    'reads an instance once',
    'blocks/node-ipam/cloud/alias-reads.ts',
    'return { requeueAfter: Math.max(entry.backoff.fail(), asked) };',
    'return asked > 0 ? {} : {};',
  ),
];
