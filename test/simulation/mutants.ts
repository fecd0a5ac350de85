// Deliberate mistakes, one at a time: each is a change of one or a few pieces of the sources. That a simulation finds each
// of them shows that its checks can fail.

export interface Edit {
  /** Below `src/`. */
  readonly file: string;
  /** Exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
}

const one = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file, from, to }],
});

export const mutants: readonly Mutant[] = [
  one(
    'shrinking in the wrong order: the status before the pool',
    'node/publication.ts',
    'return (offer && strike(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));',
    'return writeStatus(node, desired) ?? (offer && strike(node, offer)) ?? (offer && grow(node, offer));',
  ),
  one(
    'growing in the wrong order: the pool before the status',
    'node/publication.ts',
    'return (offer && strike(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));',
    'return (offer && strike(node, offer)) ?? (offer && grow(node, offer)) ?? writeStatus(node, desired);',
  ),
  one(
    'no live read before a release',
    'node/unassignments.ts',
    'const isRead = await readNode(signal).catch((error: unknown) => {',
    'const isRead = await Promise.resolve(readNode !== undefined && !signal.aborted).catch((error: unknown) => {',
  ),
  one(
    'an address unassigned as soon as a multi-pool agent no longer sees it',
    'node/address-releaser.ts',
    'return Math.max(phase.since + this.#deps.policy.hiddenFor, this.#saidAt());',
    'return phase.since;',
  ),
  one(
    'an interface removed on a single listing',
    'providers/held-interface.ts',
    'held: held.unlisted ? held : { ...held, unlisted: true }',
    'held: undefined',
  ),
  one(
    'an interface removed on a single look',
    'providers/held-interface.ts',
    'const proven = reading.terminated || reading.begunAt - since >= reading.consistencyWindow;',
    'const proven = reading.terminated || reading.begunAt - since >= -Infinity;',
  ),
  one(
    'an address removed on a single look',
    'providers/held-interface.ts',
    'return since !== undefined && reading.begunAt - since >= reading.consistencyWindow;',
    'return since !== undefined || reading.consistencyWindow > 0;',
  ),
  one(
    'a stale reading brings back what was released',
    'providers/held-interface.ts',
    'const isThere = (holding: string): boolean => !isYoung(held.released.get(holding), reading);',
    "const isThere = (holding: string): boolean => holding !== '' && held.released.size > 0;",
  ),
  one(
    'a forgotten lost answer of an unassignment',
    'node/unassignments.ts',
    "if (outcome.kind === 'ambiguous') this.#await(interfaceId, holdings);\n    else this.#touched.delete(interfaceId);",
    "this.#touched.delete(interfaceId);\n    if (outcome.kind === 'ambiguous') enter(holdings, () => undefined);",
  ),
  {
    name: 'a prefix released with one address in use',
    edits: [
      {
        file: 'node/release-candidates.ts',
        from: '!aside.has(holding.id) && !holding.addresses.some(isUsed);',
        to: '!aside.has(holding.id) && !holding.addresses.every(isUsed);',
      },
      {
        file: 'node/address-release.ts',
        from: "phase.kind === 'asked' && answersOf(holding, handshake).includes('do-not-release') ? [holding] : [],",
        to: "phase.kind === 'asked' && answersOf(holding, handshake).every((each) => each === 'do-not-release') ? [holding] : [],",
      },
      {
        file: 'node/address-release.ts',
        from: "if (answers.includes('do-not-release')) return undefined;\n  return { kind: answers.every(",
        to: 'return { kind: answers.some(',
      },
      {
        file: 'node/address-release.ts',
        from: 'if (holding.addresses.some(facts.isUsed)) return false;',
        to: 'if (holding.addresses.every(facts.isUsed)) return false;',
      },
      {
        file: 'node/address-release.ts',
        from: "answersOf(holding, facts.handshake).every((answer) => answer === 'ready-for-release')",
        to: "answersOf(holding, facts.handshake).some((answer) => answer === 'ready-for-release')",
      },
    ],
  },
  {
    name: 'what an agent refuses to give is taken all the same',
    edits: [
      {
        file: 'node/address-release.ts',
        from: "if (answers.includes('do-not-release')) return undefined;\n  return { kind: answers.every((answer) => answer === 'ready-for-release')",
        to: "return { kind: answers.every((answer) => answer !== 'marked-for-release')",
      },
      {
        file: 'node/address-release.ts',
        from: 'if (holding.addresses.some(facts.isUsed)) return false;',
        to: '',
      },
      {
        file: 'node/address-release.ts',
        from: "answersOf(holding, facts.handshake).every((answer) => answer === 'ready-for-release')",
        to: "answersOf(holding, facts.handshake).every((answer) => answer !== 'marked-for-release')",
      },
    ],
  },
  {
    name: 'an agent of the CRD allocator is not asked',
    edits: [
      {
        file: 'node/address-release.ts',
        from: "return { kind: facts.protocol === 'crd' ? 'asked' : 'leaving' };",
        to: "return { kind: 'leaving' };",
      },
      {
        file: 'node/address-release.ts',
        from: "protocol === 'multi-pool' ||\n    answersOf(",
        to: 'protocol !== undefined ||\n    answersOf(',
      },
    ],
  },
  {
    name: 'the answer of an agent that is a multi-pool agent now',
    edits: [
      {
        file: 'node/address-release.ts',
        from: 'if (protocol !== facts.protocol || facts.reclaimed.has(holding.id)) return false;',
        to: 'if (facts.reclaimed.has(holding.id)) return false;',
      },
      {
        file: 'node/address-release.ts',
        from: 'if (protocol !== facts.protocol) return undefined;',
        to: '',
      },
      {
        file: 'node/address-release.ts',
        from: 'if (holding.addresses.some(facts.isUsed)) return false;',
        to: '',
      },
    ],
  },
  one(
    'what a multi-pool agent holds counts as free',
    'node/release-candidates.ts',
    'single.has(address) || blocks.some((block) => contains(block, parseAddress(address) ?? -1));',
    'single.has(address) && blocks.some((block) => contains(block, parseAddress(address) ?? -1));',
  ),
  {
    name: 'no fencing gate, and no wait of a new leader',
    edits: [
      {
        file: 'controller/fencing.ts',
        from: 'if (since === undefined || end === undefined || clock.monotonic() < since + quietStart) return false;',
        to: 'if (since === undefined || end === undefined || quietStart > 0) return true;',
      },
      {
        file: 'providers/aws/ec2-edge.ts',
        from: "if (!leads()) throw notSent(action, 'Fenced', 'another process may lead by now');",
        to: '',
      },
    ],
  },
  one(
    'a process that no longer leads goes on writing',
    'kubernetes/cilium-node-writer.ts',
    'if (!this.#leads()) return',
    'if (!this.#leads() && signal.aborted) return',
  ),
  one(
    'what may be gone is offered anew',
    'node/unaddable.ts',
    'return [...doubted].flatMap',
    'return [...doubted].slice(doubted.size).flatMap',
  ),
  {
    name: 'an interface that may be gone is given addresses, and trusted for that',
    edits: [
      {
        file: 'node/prepare-ip-allocation.ts',
        from: '!frozen.has(id) && !view.doubted.has(id) && ',
        to: '!frozen.has(id) && view !== undefined && ',
      },
      {
        file: 'providers/tracked-instance.ts',
        from: 'this.#interfaces.set(interfaceId, { ...edit(held), asOf: endedAt });',
        to: 'this.#interfaces.set(interfaceId, { ...edit(held), asOf: endedAt, absentSince: undefined, unlisted: false });',
      },
    ],
  },
  one(
    'addresses are offered without a look at who else offers them',
    'node/desired-state.ts',
    'const hidden = [...claimed.withheld.keys(), ...outgoing];',
    'const hidden = [...outgoing];',
  ),
  one(
    'what is on its way out stays in view',
    'node/desired-state.ts',
    'const hidden = [...claimed.withheld.keys(), ...outgoing];',
    'const hidden = [...claimed.withheld.keys()];',
  ),
  one(
    'the pools of earlier leaders are not remembered',
    'manager/fleet.ts',
    'isOfAnother ? undefined : recalled.interfaces,',
    'isOfAnother || recalled.interfaces.length > 0 ? undefined : recalled.interfaces,',
  ),
  {
    name: 'the tenth address over max-allocate',
    edits: [
      {
        file: 'node/prepare-ip-allocation.ts',
        from: 'this.#most = Math.max(0, facts.most - coming);',
        to: 'this.#most = Infinity;',
      },
      {
        file: 'node/statistics.ts',
        from: 'return maxAllocate > 0 ? maxAllocate - available : Infinity;',
        to: 'return maxAllocate > 0 ? maxAllocate + 10 - available : Infinity;',
      },
    ],
  },
  one('nothing is ever given back', 'node/address-releaser.ts', 'facts.wanted === 0', 'facts.wanted < 0'),
  one(
    'one address less than wanted',
    'node/prepare-ip-allocation.ts',
    'Math.min(facts.wanted - coming, this.#most)',
    'Math.min(facts.wanted - 1 - coming, this.#most)',
  ),
  one(
    'interfaces that nobody attached stay',
    'providers/orphan-collection.ts',
    'const mostPerPass = 25;',
    'const mostPerPass = 0;',
  ),
  one(
    'an interface with addresses is idle',
    'node/idle-interfaces.ts',
    'const isEmpty = addresses.length + prefixes.length === 0;',
    'const isEmpty = addresses.length + prefixes.length <= 2;',
  ),
  one(
    'empty interfaces stay attached',
    'node/idle-interfaces.ts',
    'const isEmpty = addresses.length + prefixes.length === 0;',
    'const isEmpty = addresses.length + prefixes.length < 0;',
  ),
  one(
    'an open handshake is never ended',
    'node/publication.ts',
    '.filter(([address]) => !handshake.has(address))',
    '.filter(([address]) => !handshake.has(address) && known.length === 0)',
  ),
  one(
    'an address that moved stays with its former interface',
    'providers/moved-holdings.ts',
    'const moved = holdingsOf(held.record).filter(isGiven);',
    'const moved = holdingsOf(held.record).filter((holding) => isGiven(holding) && networkId === undefined);',
  ),
  one(
    'a new leader goes by the older state that it began with',
    'node/managed-node.ts',
    'this.#recall(previous, node);',
    'if (previous === undefined) this.#recall(previous, node);',
  ),
  {
    name: 'a detached interface is adopted as it was before our last call',
    edits: [
      {
        file: 'providers/orphan-standing.ts',
        from: "if (orphan.lastAt < orphan.changedAt + consistencyWindow) return 'unclear';",
        to: '',
      },
      // Whose node still counts on it is not adopted either: most of the time that comes first.
      {
        file: 'providers/orphan-standing.ts',
        from: 'return claimed || held || operation',
        to: 'return claimed || operation',
      },
    ],
  },
  one(
    'what the leader before wrote counts as a foreign writer’s',
    'controller/foreign-writers.ts',
    'if (isOurs || !leads() || this.mayBePredecessors(next)) return;',
    'if (isOurs || (this.mayBePredecessors(next) && this.#predecessorsUntil === undefined)) return;',
  ),
  {
    name: 'a slot held while waiting for the rate limits',
    edits: [
      {
        file: 'providers/aws/ec2-edge.ts',
        from: 'const giveBack = await budget.tokens(actions, context);',
        to: 'const giveBack = await this.#options.places.run(context, () => budget.tokens(actions, context));',
      },
      {
        file: 'providers/in-flight.ts',
        from: '{ alone: 0.6, besidesPressing: 0.2 }',
        to: '{ alone: 1, besidesPressing: 1 }',
      },
    ],
  },
];
