// Deliberate mistakes, one at a time: each edits one or a few places of the sources. The simulation must detect each of
// them, which shows that its checks can fail.
import { alibabaMutants } from './alibaba-mutants.ts';
import { azureMutants, onAzureToo } from './azure-mutants.ts';
import { ipv6Mutants } from './ipv6-mutants.ts';
import { type Mutant, releasedWhileShown, withoutLastLook } from './mutant.ts';

const one = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file, from, to }],
});

const onEveryCloud: readonly Mutant[] = [
  one(
    'shrinking writes the status before the pool',
    'node/publish/next-write.ts',
    'return (offer && shrink(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));',
    'return writeStatus(node, desired) ?? (offer && shrink(node, offer)) ?? (offer && grow(node, offer));',
  ),
  one(
    'growing writes the pool before the status',
    'node/publish/next-write.ts',
    'return (offer && shrink(node, offer)) ?? writeStatus(node, desired) ?? (offer && grow(node, offer));',
    'return (offer && shrink(node, offer)) ?? (offer && grow(node, offer)) ?? writeStatus(node, desired);',
  ),
  one(
    'a release has no live read before it',
    'node/release/releaser.ts',
    'const isRead = await node.reread(signal);',
    'const isRead = !signal.aborted;',
  ),
  one(
    'an address is unassigned as soon as it is hidden from a multi-pool agent',
    'node/release/release-plan.ts',
    'return Math.max(phase.since + times.policy.hiddenFor, useReportedAt(times));',
    'return phase.since;',
  ),
  one(
    'an interface is offered before a read shows it',
    'node/reconcile/desired-state.ts',
    'const view = withoutAwaited(known, node);',
    "const view = known.id === '' ? withoutAwaited(known, node) : known;",
  ),
  one(
    'an interface is withdrawn after a single listing',
    'providers/inventory/apply-reading.ts',
    "return { record: unclear(record, 'holdings'), refreshDue };",
    'return { record: undefined, refreshDue };',
  ),
  one(
    'an interface is withdrawn after a single refresh',
    'providers/inventory/apply-reading.ts',
    'ownerShown: whole, missedAt: absentSince,',
    'ownerShown: whole, missedAt: absentSince ?? -Infinity,',
  ),
  one(
    'absence alone counts as missing',
    'providers/inventory/apply-reading.ts',
    'ownerShown: whole, missedAt: absentSince,',
    'ownerShown: true, missedAt: absentSince,',
  ),
  one(
    'an instance shown without its primary interface counts as complete',
    'providers/inventory/tracked-instance.ts',
    'const showsPrimary = observations.some(isOfPrimary);',
    "const showsPrimary = observations.some((each) => each.kind === 'interface' || isOfPrimary(each));",
  ),
  one(
    'the withdrawal brake holds nothing',
    'manager/withdrawals/withdrawal-decision.ts',
    'const limit = Math.max(minLimit, limitRatio * users.length);',
    'const limit = minLimit + limitRatio + Infinity;',
  ),
  one(
    'the withdrawal brake never opens',
    'controller/eni/withdrawal-watch.ts',
    "this.#isClosed = state.kind !== 'open';",
    "this.#isClosed ||= state.kind !== 'open';",
  ),
  one(
    'the withdrawal brake counts terminated instances',
    'providers/inventory/withdrawals.ts',
    "case 'terminated':\n      return 'now';",
    "case 'terminated':\n      return 'gated';",
  ),
  one(
    'the withdrawal brake is forgotten at a restart',
    'manager/withdrawals/withdrawal-brake.ts',
    'this.#inherited = deps.inherited;\n    this.#isPreviousLeaders = deps.inherited !== undefined;',
    'this.#inherited = undefined;\n    this.#isPreviousLeaders = false;',
  ),
  one(
    'what was missed before others are shown again counts',
    'providers/inventory/held-withdrawals.ts',
    'return this.#isSince(since) ||',
    'return since >= 0 ||',
  ),
  one(
    'an address is withdrawn after a single refresh',
    'providers/inventory/missing-holdings.ts',
    'missedAt: missing.get(holding),',
    'missedAt: missing.get(holding) ?? -Infinity,',
  ),
  one(
    'a stale read restores what was released',
    'providers/inventory/apply-reading.ts',
    'const isThere = (holding: string): boolean => !isYoung(record.released.get(holding), reading);',
    "const isThere = (holding: string): boolean => holding !== '' && record.released.size > 0;",
  ),
  one(
    'a lost answer of an unassignment is forgotten',
    'node/release/unassignments.ts',
    "return { outcome: { kind: 'unclear', openUntil }, answer, isUnclear: true };",
    "return { outcome: { kind: 'refused', concerns: 'all' }, answer: openUntil < 0 ? answer : undefined, isUnclear: false };",
  ),
  one(
    'an exclusion withdraws addresses in use',
    'node/release/retired-holdings.ts',
    'return retired.length === 0 ? none : retired;',
    'return retired.length < unfit.length * 2 ? none : retired;',
  ),
  {
    name: 'an empty list is believed',
    edits: [
      {
        file: 'kubernetes/watch/reflector.ts',
        from: 'known === 0 || this.#reflected.verifyEmptyLists !== true',
        to: 'known >= 0 || this.#reflected.verifyEmptyLists !== true',
      },
      // Otherwise the list would be requested again a minute later.
      {
        file: 'kubernetes/watch/reflector.ts',
        from: 'verifyEmptyLists === true && listing.objects.size === 0;',
        to: 'verifyEmptyLists === true && listing.objects.size < 0;',
      },
    ],
  },
  one(
    'a reduced limit is ignored',
    'node/demand/statistics.ts',
    'return Math.max(beyondWatermarks(usage, marks), beyondLimit(usage, marks));',
    'return Math.max(beyondWatermarks(usage, marks), beyondLimit(usage, { ...marks, maxAllocate: 0 }));',
  ),
  {
    name: 'a prefix is released with one address in use',
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
        from: "if (answers.includes('do-not-release')) return undefined;\n  const isAgreed = answers.every(",
        to: 'const isAgreed = answers.some(',
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (holding.addresses.some(agent.isUsed)) return false;',
        to: 'if (holding.addresses.every(agent.isUsed)) return false;',
      },
      {
        file: 'node/release/release-state.ts',
        from: "answersOf(holding, agent.handshake).every((answer) => answer === 'ready-for-release')",
        to: "answersOf(holding, agent.handshake).some((answer) => answer === 'ready-for-release')",
      },
    ],
  },
  {
    name: 'an address that its agent refused to release is released',
    edits: [
      {
        file: 'node/release/release-state.ts',
        from: "if (answers.includes('do-not-release')) return undefined;\n  const isAgreed = answers.every((answer) => answer === 'ready-for-release')",
        to: "const isAgreed = answers.every((answer) => answer !== 'marked-for-release')",
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (holding.addresses.some(agent.isUsed)) return false;',
        to: '',
      },
      {
        file: 'node/release/release-state.ts',
        from: "answersOf(holding, agent.handshake).every((answer) => answer === 'ready-for-release')",
        to: "answersOf(holding, agent.handshake).every((answer) => answer !== 'marked-for-release')",
      },
    ],
  },
  {
    name: 'a CRD agent is not asked for a release',
    edits: [
      {
        file: 'node/release/release-state.ts',
        from: "if (agent.protocol === 'crd') return { kind: 'asked' };",
        to: '',
      },
      {
        file: 'node/release/release-state.ts',
        from: "protocol === 'multi-pool' ||\n    answersOf(",
        to: 'protocol !== undefined ||\n    answersOf(',
      },
    ],
  },
  {
    name: 'the answer of a CRD agent counts after a change to multi-pool',
    edits: [
      {
        file: 'node/release/release-state.ts',
        from: 'if (protocol !== agent.protocol || isReclaimed) return false;',
        to: 'if (isReclaimed) return false;',
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (protocol !== agent.protocol) return undefined;',
        to: '',
      },
      {
        file: 'node/release/release-state.ts',
        from: 'if (holding.addresses.some(agent.isUsed)) return false;',
        to: '',
      },
    ],
  },
  one(
    'addresses that a multi-pool agent holds count as free',
    'node/release/prepare-ip-release.ts',
    'single.has(address) || blocks.some((block) => contains(block, parseAddress(address) ?? -1));',
    'single.has(address) && blocks.some((block) => contains(block, parseAddress(address) ?? -1));',
  ),
  {
    name: 'a leader has neither fencing nor a quiet period',
    edits: [
      {
        file: 'controller/fencing.ts',
        from: 'if (since === undefined || end === undefined || clock.monotonic() < since + leaderQuietPeriod)\n      return false;',
        to: 'if (since === undefined || end === undefined || leaderQuietPeriod > 0) return true;',
      },
      {
        file: 'providers/gate/call-gate.ts',
        from: "if (!leads()) throw notSent(call, 'Fenced', 'another process may lead by now');",
        to: '',
      },
    ],
  },
  one(
    'a former leader keeps writing',
    'kubernetes/transport/object-writer.ts',
    'if (!this.#mayWrite()) return notLeading;',
    'if (!this.#mayWrite() && signal.aborted) return notLeading;',
  ),
  one(
    'addresses that are possibly gone are newly offered',
    'node/publish/desired-status.ts',
    'return [...[...possiblyGone].flatMap(expandHolding), ...primaries];',
    'return [...[...possiblyGone].slice(possiblyGone.size).flatMap(expandHolding), ...primaries];',
  ),
  // Not on Azure, where an interface leaves only with its VM: what gets addresses is there.
  {
    name: 'an interface that is possibly gone gets addresses and is trusted again',
    edits: [
      {
        file: 'node/allocate/prepare-ip-allocation.ts',
        from: '!ongoing.frozen.has(id) && !view.possiblyGone.has(id) && ',
        to: '!ongoing.frozen.has(id) && view !== undefined && ',
      },
      {
        file: 'providers/inventory/known-interfaces.ts',
        from: 'this.set(answer.interfaceId, { ...whenChanged(record, answer, endedAt), asOf: endedAt });',
        to: 'this.set(answer.interfaceId, { ...whenChanged(record, answer, endedAt), asOf: endedAt, absentSince: undefined, unclear: "nothing", elsewhereAt: undefined });',
      },
    ],
  },
  one(
    'addresses are offered although another node offers them',
    'node/reconcile/desired-state.ts',
    'const hidden = [...claimed.excluded.keys(), ...outgoing];',
    'const hidden = [...outgoing];',
  ),
  one(
    'addresses being released stay visible',
    'node/reconcile/desired-state.ts',
    'const hidden = [...claimed.excluded.keys(), ...outgoing];',
    'const hidden = [...claimed.excluded.keys()];',
  ),
  one(
    'the pools of previous leaders are not restored',
    'manager/node-manager.ts',
    'isOfAnother ? undefined : restored.interfaces,',
    'isOfAnother || restored.interfaces.length > 0 ? undefined : restored.interfaces,',
  ),
  {
    name: 'max-allocate is exceeded by ten addresses',
    edits: [
      {
        file: 'node/allocate/prepare-ip-allocation.ts',
        from: 'this.#max = Math.max(0, need.max - coming - maxOfChanges(facts, isOurs));',
        to: 'this.#max = Infinity;',
      },
      {
        file: 'node/demand/statistics.ts',
        from: 'return maxAllocate > 0 ? maxAllocate - available : Infinity;',
        to: 'return maxAllocate > 0 ? maxAllocate + 10 - available : Infinity;',
      },
    ],
  },
  one(
    'the pool of a multi-pool agent keeps what the status shows no longer',
    'node/publish/next-write.ts',
    'if (gone.length === 0) return undefined;',
    'if (gone.length === 0 || !isRead) return undefined;',
  ),
  one(
    'interfaces are shown without their own address',
    'providers/aws/cilium-node-section.ts',
    'ip: item.primaryAddress,',
    'ip: undefined,',
  ),
  {
    name: 'the public address that an agent waits for has no priority',
    edits: [
      {
        file: 'node/housekeeping/static-address.ts',
        from: "return this.#isAwaited ? 'high' : 'housekeeping';",
        to: "return this.#isAwaited ? 'housekeeping' : 'housekeeping';",
      },
    ],
    seeds: 'public-address-behind-slow-releases.json',
  },
  one(
    'nothing is ever released',
    'node/release/release-plan.ts',
    'enabled && wanted === 0',
    'enabled && wanted < 0',
  ),
  one(
    'one address less than needed is requested',
    'node/allocate/prepare-ip-allocation.ts',
    'Math.min(need.wanted - coming, this.#max)',
    'Math.min(need.wanted - 1 - coming, this.#max)',
  ),
  one(
    'orphaned interfaces stay',
    'providers/orphans/orphan-gc.ts',
    'const maxPerPass = 25;',
    'const maxPerPass = 0;',
  ),
  one(
    'an interface with addresses counts as idle',
    'node/release/idle-interfaces.ts',
    'return isEmpty(item) &&',
    'return item.addresses.length + item.prefixes.length <= 2 &&',
  ),
  one(
    'empty interfaces stay attached',
    'node/release/idle-interfaces.ts',
    'return isEmpty(item) &&',
    'return item.addresses.length < 0 &&',
  ),
  one(
    'an open handshake never ends',
    'node/publish/next-write.ts',
    '.filter(([address]) => !handshake.has(address))',
    '.filter(([address]) => !handshake.has(address) && known.length === 0)',
  ),
  one(
    'a reassigned address stays on its former interface',
    'providers/inventory/reassigned.ts',
    'const moved = holdingIds(record.interface).filter(isGiven);',
    'const moved = holdingIds(record.interface).filter((holding) => isGiven(holding) && networkId === undefined);',
  ),
  one(
    'a new leader keeps the older state that it started with',
    'node/reconcile/node-reconciler.ts',
    'this.#restore(previous, node);',
    'if (previous === undefined) this.#restore(previous, node);',
  ),
  one(
    'an interface that its node still relies on is adopted',
    'providers/orphans/orphan-eligibility.ts',
    'return claimed || held || operation',
    'return claimed || operation',
  ),
  one(
    "a write of the previous leader counts as a conflicting writer's",
    'controller/eni/conflicting-writers.ts',
    'if (parts.length === 0 || (!isOperators && this.mayBePreviousLeaders(next))) return;',
    'if (parts.length === 0 || (this.mayBePreviousLeaders(next) && this.#previousLeaderUntil === undefined)) return;',
  ),
  {
    name: 'a call holds its concurrency slot while it waits for the rate limit',
    edits: [
      {
        file: 'providers/gate/call-gate.ts',
        from: 'const refund = await rateLimiter.tokens(calls, context);',
        to: 'const refund = await this.#options.concurrency.run(context, () => rateLimiter.tokens(calls, context));',
      },
      {
        file: 'providers/rate-limit/concurrency-limiter.ts',
        from: '{ alone: 0.6, besidesPressing: 0.2 }',
        to: '{ alone: 1, besidesPressing: 1 }',
      },
    ],
  },
  {
    name: 'the provider ID is ignored',
    edits: [
      {
        file: 'manager/node-manager.ts',
        from: 'ownInstance: this.#ownership.instanceOf(node.name, instanceId),\n      nodes: this.#ownership.nodesOf(instanceId, isClaimedBy),',
        to: 'ownInstance: undefined,\n      nodes: this.#ownership.nodesOf(instanceId, isClaimedBy).filter(() => false),',
      },
      {
        file: 'manager/claims/instance-ownership.ts',
        from: 'if (names.length > 0) return names.length === 1 && names[0] === name;',
        to: "if (names.length >= 0) return names.length >= 0 || name === '';",
      },
    ],
  },
  one(
    'a Node without a provider ID verifies what its CiliumNode names, whatever the cloud shows',
    'manager/claims/instance-ownership.ts',
    'return this.#owners.get(instanceId) === name;',
    'return this.has(name) && this.#options.identities.instanceOf(name) === undefined;',
  ),
  one(
    'the first CiliumNode that names an instance wins',
    'manager/claims/instance-claim.ts',
    'if (ownInstance !== undefined && ownInstance !== instanceId)\n    return blocked(instanceMismatch(name, instanceId, ownInstance));\n  if (ownInstance === undefined)',
    'if (served !== undefined && served !== name) return blocked(duplicateInstance(instanceId, served));\n  if (served === name) return granted;\n  if (ownInstance === undefined)',
  ),
  {
    name: 'an unverified CiliumNode loses addresses',
    edits: [
      {
        file: 'node/reconcile/node-state.ts',
        from: "if (activity === 'release' && !identities.isVerified(name, this.instanceId)) return 'unverified';",
        to: "if (activity === 'release' && !identities.isVerified(name, this.instanceId)) return undefined;",
      },
      // It keeps what it shows, and nothing shown is unassigned.
      {
        file: 'node/reconcile/desired-state.ts',
        from: 'const offer = isVerified ? offerOf(facts, excluded)',
        to: 'const offer = isVerified || excluded.onOthers.size >= 0 ? offerOf(facts, excluded)',
      },
    ],
  },
  {
    name: 'the claim of a CiliumNode outranks the cloud',
    edits: [
      {
        file: 'manager/node-manager.ts',
        from: 'isPossible && (isFromBefore || this.mayBelongTo(name, instanceId))',
        to: 'instanceId !== undefined',
      },
      {
        file: 'manager/claims/holder-evidence.ts',
        from: 'if (item === undefined) return removalBy(holder);',
        to: "if (item === undefined) return holder.removal === 'none' ? 'shown' : holder.removal;",
      },
    ],
  },
  one(
    "what is shown is looked up in another cloud's section",
    'kubernetes/cilium-node/cilium-node-reader.ts',
    "section.shown(valueAt(raw, 'status', key), ",
    "section.shown(valueAt(raw, 'status', key === 'eni' ? 'azure' : 'eni'), ",
  ),
  one(
    'a silent watch is never ended',
    'kubernetes/watch/watch-stream.ts',
    'options.timeoutSeconds * 1000 + idleSlack',
    'options.timeoutSeconds * 1e9 + idleSlack',
  ),
];

export const mutants: readonly Mutant[] = [
  releasedWhileShown,
  ...onEveryCloud,
  ...ipv6Mutants,
  ...azureMutants,
  ...onAzureToo(onEveryCloud),
  ...alibabaMutants,
].map((mutant) => ({ ...mutant, edits: [...mutant.edits, withoutLastLook] }));
