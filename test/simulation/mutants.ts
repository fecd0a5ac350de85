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
    'node/publish/next-write.ts',
    'return (offer && shrink(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));',
    'return writeStatus(node, desired) ?? (offer && shrink(node, offer)) ?? (offer && grow(node, offer));',
  ),
  one(
    'growing in the wrong order: the pool before the status',
    'node/publish/next-write.ts',
    'return (offer && shrink(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));',
    'return (offer && shrink(node, offer)) ?? (offer && grow(node, offer)) ?? writeStatus(node, desired);',
  ),
  one(
    'no live read before a release',
    'node/release/unassign.ts',
    'const isRead = await readNode(signal).catch((error: unknown) => {',
    'const isRead = await Promise.resolve(readNode !== undefined && !signal.aborted).catch((error: unknown) => {',
  ),
  one(
    'an address unassigned as soon as a multi-pool agent no longer sees it',
    'node/release/releaser.ts',
    'return Math.max(phase.since + this.#deps.policy.hiddenFor, this.#saidAt());',
    'return phase.since;',
  ),
  one(
    'an interface is offered before it is seen',
    'node/reconcile/desired-state.ts',
    'const view = withoutAwaited(known, this.#deps.node());',
    "const view = known.id === '' ? withoutAwaited(known, this.#deps.node()) : known;",
  ),
  one(
    'an interface removed on a single listing',
    'providers/inventory/apply-reading.ts',
    "return { held: unclear(held, 'holdings'), refreshDue };",
    'return { held: undefined, refreshDue };',
  ),
  one(
    'an interface removed on a single look',
    'providers/inventory/apply-reading.ts',
    'ownerShown: whole, missedAt: absentSince,',
    'ownerShown: whole, missedAt: absentSince ?? -Infinity,',
  ),
  one(
    'absence counts: what an instance had that is not found is missing',
    'providers/inventory/apply-reading.ts',
    'ownerShown: whole, missedAt: absentSince,',
    'ownerShown: true, missedAt: absentSince,',
  ),
  one(
    'an instance that is shown without its primary interface counts as whole',
    'providers/inventory/tracked-instance.ts',
    "(each) => each.kind === 'interface' && isPrimaryInterface(each.interface),",
    "(each) => each.kind === 'interface' && (isPrimaryInterface(each.interface) || each.interface.id !== ''),",
  ),
  one(
    'a brake that holds nothing',
    'manager/withdrawals/withdrawal-decision.ts',
    'if (counted.size > Math.max(leastLimit, limitRatio * users.length)) return false;',
    'if (counted.size > Math.max(leastLimit, limitRatio * users.length)) return true;',
  ),
  one(
    'a brake that never opens',
    'controller/withdrawal-watch.ts',
    "this.#isClosed = state.kind !== 'open';",
    "this.#isClosed ||= state.kind !== 'open';",
  ),
  one(
    'a brake that delays what is lawful: terminated instances are weighed',
    'providers/inventory/withdrawals.ts',
    "case 'terminated':\n      return 'now';",
    "case 'terminated':\n      return 'gated';",
  ),
  one(
    'a brake that a restart forgets',
    'manager/withdrawals/withdrawal-brake.ts',
    'this.#inherited = deps.inherited;\n    this.#isPreviousLeaders = deps.inherited !== undefined;',
    'this.#inherited = undefined;\n    this.#isPreviousLeaders = false;',
  ),
  one(
    'an address removed on a single look',
    'providers/inventory/missing-holdings.ts',
    'missedAt: missing.get(holding),',
    'missedAt: missing.get(holding) ?? -Infinity,',
  ),
  one(
    'a stale reading brings back what was released',
    'providers/inventory/apply-reading.ts',
    'const isThere = (holding: string): boolean => !isYoung(held.released.get(holding), reading);',
    "const isThere = (holding: string): boolean => holding !== '' && held.released.size > 0;",
  ),
  one(
    'a forgotten lost answer of an unassignment',
    'node/release/unassign.ts',
    "if (outcome.kind === 'ambiguous') this.#await(interfaceId, holdings);\n    else this.#touched.delete(interfaceId);",
    "this.#touched.delete(interfaceId);\n    if (outcome.kind === 'ambiguous') enter(holdings, () => undefined);",
  ),
  one(
    'an exclusion strikes addresses in use',
    'node/release/retired-holdings.ts',
    'return retired.length === 0 ? none : retired;',
    'return retired.length < unfit.length * 2 ? none : retired;',
  ),
  {
    name: 'a list that shows nothing is believed',
    edits: [
      {
        file: 'kubernetes/watch/reflector.ts',
        from: 'known === 0 || this.#options.verifyEmptyLists !== true',
        to: 'known >= 0 || this.#options.verifyEmptyLists !== true',
      },
      // It would be asked for again a minute later.
      {
        file: 'kubernetes/watch/reflector.ts',
        from: 'verifyEmptyLists === true && listing.objects.size === 0;',
        to: 'verifyEmptyLists === true && listing.objects.size < 0;',
      },
    ],
  },
  one(
    'a limit that shrank is not kept to',
    'node/demand/statistics.ts',
    'return Math.max(beyondWatermarks(usage, marks), beyondLimit(usage, marks));',
    'return Math.max(beyondWatermarks(usage, marks), beyondLimit(usage, { ...marks, maxAllocate: 0 }));',
  ),
  {
    name: 'a prefix released with one address in use',
    edits: [
      {
        file: 'node/release/prepare-ip-release.ts',
        from: '!blocked.has(holding.id) && !holding.addresses.some(isUsed);',
        to: '!blocked.has(holding.id) && !holding.addresses.every(isUsed);',
      },
      {
        file: 'node/release/release-state.ts',
        from: "phase.kind === 'asked' && answersOf(holding, handshake).includes('do-not-release') ? [holding] : [],",
        to: "phase.kind === 'asked' && answersOf(holding, handshake).every((each) => each === 'do-not-release') ? [holding] : [],",
      },
      {
        file: 'node/release/release-state.ts',
        from: "if (answers.includes('do-not-release')) return undefined;\n  return { kind: answers.every(",
        to: 'return { kind: answers.some(',
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (holding.addresses.some(facts.isUsed)) return false;',
        to: 'if (holding.addresses.every(facts.isUsed)) return false;',
      },
      {
        file: 'node/release/release-state.ts',
        from: "answersOf(holding, facts.handshake).every((answer) => answer === 'ready-for-release')",
        to: "answersOf(holding, facts.handshake).some((answer) => answer === 'ready-for-release')",
      },
    ],
  },
  {
    name: 'what an agent refuses to give is taken all the same',
    edits: [
      {
        file: 'node/release/release-state.ts',
        from: "if (answers.includes('do-not-release')) return undefined;\n  return { kind: answers.every((answer) => answer === 'ready-for-release')",
        to: "return { kind: answers.every((answer) => answer !== 'marked-for-release')",
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (holding.addresses.some(facts.isUsed)) return false;',
        to: '',
      },
      {
        file: 'node/release/release-state.ts',
        from: "answersOf(holding, facts.handshake).every((answer) => answer === 'ready-for-release')",
        to: "answersOf(holding, facts.handshake).every((answer) => answer !== 'marked-for-release')",
      },
    ],
  },
  {
    name: 'an agent of the CRD allocator is not asked',
    edits: [
      {
        file: 'node/release/release-state.ts',
        from: "return { kind: facts.protocol === 'crd' ? 'asked' : 'leaving' };",
        to: "return { kind: 'leaving' };",
      },
      {
        file: 'node/release/release-state.ts',
        from: "protocol === 'multi-pool' ||\n    answersOf(",
        to: 'protocol !== undefined ||\n    answersOf(',
      },
    ],
  },
  {
    name: 'the answer of an agent that is a multi-pool agent now',
    edits: [
      {
        file: 'node/release/release-state.ts',
        from: 'if (protocol !== facts.protocol || facts.reclaimed.has(holding.id)) return false;',
        to: 'if (facts.reclaimed.has(holding.id)) return false;',
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (protocol !== facts.protocol) return undefined;',
        to: '',
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (holding.addresses.some(facts.isUsed)) return false;',
        to: '',
      },
    ],
  },
  one(
    'what a multi-pool agent holds counts as free',
    'node/release/prepare-ip-release.ts',
    'single.has(address) || blocks.some((block) => contains(block, parseAddress(address) ?? -1));',
    'single.has(address) && blocks.some((block) => contains(block, parseAddress(address) ?? -1));',
  ),
  {
    name: 'no fencing gate, and no wait of a new leader',
    edits: [
      {
        file: 'controller/fencing.ts',
        from: 'if (since === undefined || end === undefined || clock.monotonic() < since + leaderQuietPeriod)\n      return false;',
        to: 'if (since === undefined || end === undefined || leaderQuietPeriod > 0) return true;',
      },
      {
        file: 'providers/aws/ec2-client.ts',
        from: "if (!leads()) throw notSent(action, 'Fenced', 'another process may lead by now');",
        to: '',
      },
    ],
  },
  one(
    'a process that no longer leads goes on writing',
    'kubernetes/cilium-node/cilium-node-writer.ts',
    'if (!this.#leads()) return',
    'if (!this.#leads() && signal.aborted) return',
  ),
  one(
    'what may be gone is offered anew',
    'node/publish/not-offered.ts',
    'return [...possiblyGone].flatMap',
    'return [...possiblyGone].slice(possiblyGone.size).flatMap',
  ),
  {
    name: 'an interface that may be gone is given addresses, and trusted for that',
    edits: [
      {
        file: 'node/allocate/prepare-ip-allocation.ts',
        from: '!frozen.has(id) && !view.possiblyGone.has(id) && ',
        to: '!frozen.has(id) && view !== undefined && ',
      },
      {
        file: 'providers/inventory/tracked-instance.ts',
        from: 'this.#interfaces.set(answer.interfaceId, { ...whenChanged(held, answer, endedAt), asOf: endedAt });',
        to: 'this.#interfaces.set(answer.interfaceId, { ...whenChanged(held, answer, endedAt), asOf: endedAt, absentSince: undefined, unclear: "nothing", elsewhereAt: undefined });',
      },
    ],
  },
  one(
    'addresses are offered without a look at who else offers them',
    'node/reconcile/desired-state.ts',
    'const hidden = [...claimed.excluded.keys(), ...outgoing];',
    'const hidden = [...outgoing];',
  ),
  one(
    'what is on its way out stays in view',
    'node/reconcile/desired-state.ts',
    'const hidden = [...claimed.excluded.keys(), ...outgoing];',
    'const hidden = [...claimed.excluded.keys()];',
  ),
  one(
    'the pools of earlier leaders are not remembered',
    'manager/node-manager.ts',
    'isOfAnother ? undefined : restored.interfaces,',
    'isOfAnother || restored.interfaces.length > 0 ? undefined : restored.interfaces,',
  ),
  {
    name: 'the tenth address over max-allocate',
    edits: [
      {
        file: 'node/allocate/prepare-ip-allocation.ts',
        from: 'this.#most = Math.max(0, facts.most - coming);',
        to: 'this.#most = Infinity;',
      },
      {
        file: 'node/demand/statistics.ts',
        from: 'return maxAllocate > 0 ? maxAllocate - available : Infinity;',
        to: 'return maxAllocate > 0 ? maxAllocate + 10 - available : Infinity;',
      },
    ],
  },
  one(
    'nothing is ever given back',
    'node/release/releaser.ts',
    'enabled && wanted === 0',
    'enabled && wanted < 0',
  ),
  one(
    'one address less than wanted',
    'node/allocate/prepare-ip-allocation.ts',
    'Math.min(facts.wanted - coming, this.#most)',
    'Math.min(facts.wanted - 1 - coming, this.#most)',
  ),
  one(
    'interfaces that nobody attached stay',
    'providers/orphans/orphan-gc.ts',
    'const mostPerPass = 25;',
    'const mostPerPass = 0;',
  ),
  one(
    'an interface with addresses is idle',
    'node/release/idle-interfaces.ts',
    'return addresses.length + prefixes.length === 0 &&',
    'return addresses.length + prefixes.length <= 2 &&',
  ),
  one(
    'empty interfaces stay attached',
    'node/release/idle-interfaces.ts',
    'return addresses.length + prefixes.length === 0 &&',
    'return addresses.length + prefixes.length < 0 &&',
  ),
  one(
    'an open handshake is never ended',
    'node/publish/next-write.ts',
    '.filter(([address]) => !handshake.has(address))',
    '.filter(([address]) => !handshake.has(address) && known.length === 0)',
  ),
  one(
    'an address that moved stays with its former interface',
    'providers/inventory/reassigned.ts',
    'const moved = holdingIds(held.record).filter(isGiven);',
    'const moved = holdingIds(held.record).filter((holding) => isGiven(holding) && networkId === undefined);',
  ),
  one(
    'a new leader goes by the older state that it began with',
    'node/reconcile/node-reconciler.ts',
    'this.#restore(previous, node);',
    'if (previous === undefined) this.#restore(previous, node);',
  ),
  {
    name: 'a detached interface is adopted as it was before our last call',
    edits: [
      {
        file: 'providers/orphans/orphan-eligibility.ts',
        from: "if (orphan.lastAt < orphan.changedAt + consistencyWindow) return 'unclear';",
        to: '',
      },
      // Whose node still counts on it is not adopted either: most of the time that comes first.
      {
        file: 'providers/orphans/orphan-eligibility.ts',
        from: 'return claimed || held || operation',
        to: 'return claimed || operation',
      },
    ],
  },
  one(
    'what the leader before wrote counts as a foreign writer’s',
    'controller/conflicting-writers.ts',
    'if (isOurs || !leads() || this.mayBePreviousLeaders(next)) return;',
    'if (isOurs || (this.mayBePreviousLeaders(next) && this.#previousLeaderUntil === undefined)) return;',
  ),
  {
    name: 'a slot held while waiting for the rate limits',
    edits: [
      {
        file: 'providers/aws/ec2-client.ts',
        from: 'const refund = await rateLimiter.tokens(actions, context);',
        to: 'const refund = await this.#options.concurrency.run(context, () => rateLimiter.tokens(actions, context));',
      },
      {
        file: 'providers/rate-limit/concurrency-limit.ts',
        from: '{ alone: 0.6, besidesPressing: 0.2 }',
        to: '{ alone: 1, besidesPressing: 1 }',
      },
    ],
  },
  {
    name: 'the provider ID is not looked at',
    edits: [
      {
        file: 'manager/node-manager.ts',
        from: 'ownInstance: identities.instanceOf(node.name),\n      nodes: identities.nodesOf(instanceId),',
        to: 'ownInstance: undefined,\n      nodes: identities.nodesOf(instanceId).filter(() => false),',
      },
      {
        file: 'manager/claims/node-identities.ts',
        from: 'return names.length === 1 && names[0] === name;',
        to: "return names.length >= 0 || name === '';",
      },
    ],
  },
  one(
    'the first CiliumNode that names an instance wins',
    'manager/claims/instance-claim.ts',
    'if (ownInstance !== undefined && ownInstance !== instanceId)\n    return blocked(instanceMismatch(name, instanceId, ownInstance));\n  if (ownInstance === undefined)',
    'if (served !== undefined && served !== name) return blocked(duplicateInstance(instanceId, served));\n  if (served === name) return granted;\n  if (ownInstance === undefined)',
  ),
  one(
    'a CiliumNode that no Node verifies gives up addresses',
    'node/release/release-permission.ts',
    "activity === 'release' && !isVerified() ? 'unverified' : permission.refusal(activity),",
    "activity === 'release' && !isVerified() ? undefined : permission.refusal(activity),",
  ),
  {
    name: 'the claim of a CiliumNode outranks the cloud',
    edits: [
      {
        file: 'manager/node-manager.ts',
        from: '(!identities.isKnown || identities.isVerified(name, instanceId))',
        to: '(!identities.isKnown || !identities.isVerified(name, instanceId) || identities.isKnown)',
      },
      {
        file: 'manager/claims/holder-evidence.ts',
        from: 'if (item === undefined) return removal;',
        to: "if (item === undefined) return removal === 'none' ? 'shown' : removal;",
      },
    ],
  },
];
