// Deliberate mistakes in the agent of a node. The simulation of the agent must detect each.
import type { Mutant } from '../mutant.ts';

const one = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file: `agent/${file}`, from, to }],
});

/** Those that the first seeds detect go first. */
export const agentMutants: readonly Mutant[] = [
  one(
    'a late DEL releases by address',
    'cni/verbs.ts',
    '#del({ attachment, args: { pod, uid } }: Invocation): CniOutcome<Printed> {',
    `#del({ attachment, args: { pod, uid }, conf }: Invocation): CniOutcome<Printed> {
    const { ipam } = this.#options;
    for (const ip of conf.previous ?? []) {
      const named = ipam.holdings.attachmentOf({ pool: 'default', ip });
      if (named !== undefined) ipam.detach([named]);
    }`,
  ),
  {
    name: 'a late DEL releases by the name of the pod',
    edits: [
      {
        file: 'agent/cni/verbs.ts',
        from: 'readonly #waiting = new Map<string, Set<AbortController>>();',
        to: "readonly #waiting = new Map<string, Set<AbortController>>();\n  #lastOwner = '';",
      },
      {
        file: 'agent/cni/verbs.ts',
        from: 'const detached = this.#detach([attachment]);',
        to: `const { ipam } = this.#options;
    const own = [...ipam.holdings.attachments()].find((each) => each.container === attachment.container);
    const last = [...ipam.holdings.attachments()].findLast((each) => each.owner === (own?.owner ?? this.#lastOwner));
    this.#lastOwner = own?.owner ?? '';
    const detached = this.#detach([attachment, ...(own === undefined && last !== undefined ? [last] : [])]);`,
      },
    ],
  },
  one(
    'a GC without a list releases everything',
    'cni/verbs.ts',
    'const { network, valid } = conf;',
    'const { network, valid = [] } = conf;',
  ),
  one(
    'a GC releases what other networks hold',
    'cni/verbs.ts',
    'each.network === network && ',
    "network !== '' && ",
  ),
  one(
    'writes the record after the answer',
    'ipam/ipam.ts',
    'const problem = this.#options.record.write(change);',
    `const problem: string | undefined = undefined as string | undefined;
    this.#options.clock.schedule(200, () => this.#options.record.write(change));`,
  ),
  one(
    'keeps what an earlier boot held',
    'record/state-directory.ts',
    'const opened = openOwn(join(path, boot), { boot, node }, { ...unseeing, ...options });',
    "const opened = openOwn(join(path, 'any-boot'), { boot: 'any', node }, { ...unseeing, ...options });",
  ),
  one(
    'takes one family after the other, and keeps the first when the second fails',
    'ipam/pools.ts',
    'for (const { family, value } of taken) this.#release({ family, value });',
    '',
  ),
  one(
    'gives one family when the other fails',
    'ipam/pools.ts',
    "if (outcome.kind === 'failed') {",
    "if (outcome.kind === 'failed' && taken.length > 0) break;\n      if (outcome.kind === 'failed') {",
  ),
  one(
    'leaves a torn line in the journal',
    'record/address-record.ts',
    '    ftruncateSync(this.#journal, this.#length);\n    if (!this.#isCurrent)',
    '    if (!this.#isCurrent)',
  ),
  one(
    'forgets attachments in a snapshot',
    'ipam/holdings.ts',
    'yield { hold: attach.places.flatMap((place) => this.at(place) ?? []), attach };',
    'yield { hold: attach.places.flatMap((place) => this.at(place) ?? []) };',
  ),
  one(
    'starts no timer of the record',
    'ipam/ipam.ts',
    'for (const held of this.holdings.held()) this.#expirations.arm(held);',
    '',
  ),
  one(
    'does not record that a timer was stopped',
    'ipam/ipam.ts',
    'const problem = this.#commit({ hold: [{ pool, ip, owner, ...(uid !== undefined && { uid }) }] });',
    'const problem = pool + owner === ip ? ip : undefined;',
  ),
  one(
    'a DEL leaves the attachment',
    'ipam/ipam.ts',
    'return this.#release({ free, detach });',
    'return this.#release({ free, detach: detach.slice(0, 0) });',
  ),
  one(
    'gives the same attachment another address',
    'cni/verbs.ts',
    'const allocated = held === undefined ? ',
    'const allocated = held === undefined || held.length > 0 ? ',
  ),
  one(
    'forgets what is held when it gets a block',
    'ipam/pools.ts',
    'if (each.pool === pool || covers(allocator, each.ip)) restore(allocator, each.ip);',
    "if (each.ip === '') restore(allocator, each.ip);",
  ),
  one(
    'holds what it could not record',
    'ipam/ipam.ts',
    'if (problem === undefined) this.holdings.apply(change);',
    'this.holdings.apply(change);',
  ),
  one(
    'gives out the router',
    'ipam/pools.ts',
    "this.exclude({ network: only({ family, value: router }), owner: 'router' });\n      allocator.restore(router);",
    'void router;',
  ),
  one(
    'replays no DEL that the plugin left',
    'cni/delete-queue.ts',
    'const names = filesIn(directory);',
    'const names = filesIn(directory).slice(0, 0);',
  ),
  one(
    'removes a DEL before it is done',
    'cni/delete-queue.ts',
    'const { exit, out } = await this.#answerer.answer(call, never);',
    'rmSync(path, { force: true });\n    const { exit, out } = await this.#answerer.answer(call, never);',
  ),
  one(
    'remembers no block',
    'own-node/block-keeper.ts',
    'this.#remember(chooseBlocks(shown, []).blocks);',
    'this.#remember({});',
  ),
  one(
    'an address keeps its place when its release is recorded',
    'ipam/ipam.ts',
    'this.#pools.free(each);',
    '',
  ),
  one(
    'lets an address go that a pod has',
    'own-node/offered-addresses.ts',
    'return isOffered && !isTaken ?',
    'return isOffered || !isTaken ?',
  ),
  one(
    'gives out an address in hand-over',
    'own-node/offered-addresses.ts',
    'isLeaving: isLeaving(stateOf(ip))',
    'isLeaving: isLeaving(stateOf(ip)) && owner !== resource',
  ),
  one(
    'takes what is held out of the addresses in use',
    'own-node/offered-addresses.ts',
    'const held = [...ipam.holdings.held()].map(({ ip, owner }) => [ip, owner] as const);',
    'const held = [...ipam.holdings.held()].slice(1).map(({ ip, owner }) => [ip, owner] as const);',
  ),
  one(
    'gives addresses of a block while it gives the block up',
    'own-node/pooled-blocks.ts',
    'if (problem !== undefined) return problem;\n    this.#offer(raw);',
    'if (problem !== undefined) return problem;',
  ),
  one(
    'forgets at its end which blocks it gave up',
    'own-node/pooled-blocks.ts',
    'const problem = ipam.remember(change);',
    'const problem = ipam.remember({ pools: change.pools });\n    ipam.holdings.apply(change);',
  ),
  one(
    'forgets with a write what an earlier write for the same state gave up',
    'own-node/pooled-blocks.ts',
    '[...new Set([...earlier.blocks, ...given])]',
    'given',
  ),
  one(
    'learns nothing from pods when its record is damaged',
    'evidence/rebuild.ts',
    'const held = shown.filter(({ ip }) => !ips.has(ip));',
    'const held = shown.filter(({ ip }) => ip === [...ips][0]);',
  ),
  one(
    'gives out addresses before it has learned from pods what is held',
    'ipam/ipam.ts',
    'if (this.holdings.isRebuilding)',
    'if (this.holdings.isRebuilding && attachment === undefined)',
  ),
  one(
    'ends a timer in the pool that the request named',
    'ipam/ipam.ts',
    `for (const held of hold) {
      this.#expirations.arm(held);`,
    `for (const held of hold) {
      this.#expirations.arm({ ...held, pool: demand.pool ?? this.defaultPool });`,
  ),
  one(
    'gives addresses of a pool that it did not choose',
    'ipam/pools.ts',
    'const named = pool === undefined ? directory.poolFor(owner, family, attachment?.uid) : ok(pool);',
    'const named = pool === undefined ? ok(this.defaultPool) : ok(pool);',
  ),
  one(
    'gives up blocks in use of a pool that is gone',
    'own-node/pooled-blocks.ts',
    'const { family, blocks } = allocator;',
    'const { family, blocks } = allocator;\n      if (!this.#reading.familiesOf(pool).includes(family)) continue;',
  ),
  one(
    'gives up blocks that are in use',
    'allocators/block-balance.ts',
    'if (!held.has(block) || block.used > 0 || block.free > surplus) continue;',
    'if (!held.has(block) || block.free > surplus) continue;',
  ),
];
