// Deliberate mistakes in what only Azure has, or in what only Azure shows, and those about what is missing there. Seeds on
// Azure must detect them.
import type { Mutant } from './mutant.ts';

const seeds = 'azure:1..100';

const onAzure = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file, from, to }],
  seeds,
});

/** A VM that is not found is gone, whatever its scale set answers. */
const goneWithoutItsScaleSet = {
  file: 'providers/azure/whole-reads.ts',
  from: ': parts.client.readOne(scaleSet(ref), context));',
  to: ': { startedAt: parts.clock.monotonic() });',
};

/** An error of this kind says that something is not found. */
function foundNowhere(condition: string): Mutant['edits'][number] {
  return {
    file: 'providers/azure/whole-reads.ts',
    from: "if (error instanceof CloudError && policyOf(error.failure).invalidates === 'existence') return undefined;",
    to: `if (error instanceof CloudError && error.${condition}) return undefined;`,
  };
}

export const azureMutants: readonly Mutant[] = [
  onAzure(
    'an update has no If-Match',
    'providers/azure/requests.ts',
    '...(etag !== undefined && { ifMatch: etag })',
    "...(etag === '' && { ifMatch: etag })",
  ),
  onAzure(
    'an update keeps only the fields that a typed model knows',
    'providers/azure/instance-model.ts',
    '{ ...model, [name]: after };',
    "{ ...Object.fromEntries(Object.entries(model).filter(([field]) => !field.startsWith('later'))), [name]: after };",
  ),
  onAzure(
    'an update says which image its VM has',
    'providers/azure/instance-model.ts',
    "return replaced(model, ['properties', 'storageProfile'], kept);",
    'return kept === undefined ? {} : model;',
  ),
  onAzure(
    'names of configurations do not come from the operation',
    'providers/azure/instance-model.ts',
    "const stem = `Cilium-${operationId.replaceAll('-', '').slice(0, 8)}`;",
    "const stem = `Cilium-${operationId.replaceAll(/[^-]/g, '0').slice(0, 8)}`;",
  ),
  onAzure(
    'a release takes configurations that others made',
    'providers/azure/instance-model.ts',
    'const isOurs = /^Cilium-./.test(',
    'const isOurs = /./.test(',
  ),
  onAzure(
    'a release takes one configuration more',
    'providers/azure/instance-model.ts',
    'const kept = configurations.filter((item) => !removed.has(nameOf(item)));',
    'const kept = configurations.filter((item) => !removed.has(nameOf(item))).slice(0, -1);',
  ),
  onAzure(
    'one update adds and removes',
    'providers/azure/instance-model.ts',
    'const kept = configurations.filter((item) => !removed.has(nameOf(item)));',
    'const kept = configurations.map((item) => (removed.has(nameOf(item)) ? { ...item, name: `${names[0]}0` } : item));',
  ),
  onAzure(
    'a release that failed is believed to have done nothing',
    'providers/azure/changes.ts',
    "if (state.failed !== undefined && view === 'untouched') return state.failed;",
    'if (state.failed !== undefined) return state.failed;',
  ),
  onAzure(
    'a release is done once Azure has accepted it',
    'providers/azure/model-change.ts',
    'const { instanceId, read, update: operation } = target;',
    "if (goal.kind === 'removed') return { kind: 'shown', addressesByInterface: new Map() };\n  const { instanceId, read, update: operation } = target;",
  ),
  onAzure(
    'what a failed change left includes public addresses that VMs have',
    'providers/azure/failed-models.ts',
    'if (associated.includes(name) && read.publicAddressId === undefined) associations.push(name);',
    'if (associated.includes(name)) associations.push(name);',
  ),
  onAzure(
    'a single interface that says that it is secondary counts as the primary one',
    'providers/azure/network-interface.ts',
    'const first = shown.length === 1 && shown[0]?.isPrimary === undefined ? 0 : 1;',
    'const first = others.length === shown.length ? 0 : 1;',
  ),
  {
    name: 'a VM whose resource group is not found counts as gone',
    edits: [goneWithoutItsScaleSet, foundNowhere("failure.code === 'ResourceGroupNotFound'")],
    seeds,
  },
  {
    name: 'a VM that Azure does not show for lack of a permission counts as gone',
    edits: [goneWithoutItsScaleSet, foundNowhere("failure.kind === 'notAuthorized'")],
    seeds,
  },
  {
    name: 'a VM shown without its primary interface counts as complete',
    edits: [
      {
        file: 'providers/azure/whole-reads.ts',
        from: 'if (!showsPrimary(observations)) throw ',
        to: 'if (observations.length === 0) throw ',
      },
      {
        file: 'providers/inventory/tracked-instance.ts',
        from: 'const showsPrimary = observations.some(isOfPrimary);',
        to: "const showsPrimary = observations.some((each) => each.kind === 'interface' || isOfPrimary(each));",
      },
    ],
    seeds,
  },
  onAzure(
    'an interface takes no more addresses after a change that failed',
    'providers/azure/network-interface.ts',
    "if (own === 'failed') return {};",
    '',
  ),
  {
    name: 'what an interface has is offered while it is changing',
    edits: [
      {
        file: 'providers/inventory/apply-reading.ts',
        from: "const shown = seen.condition === 'changing' ? onlyWith(seen, () => false) : seen;",
        to: 'const shown = seen;',
      },
      {
        file: 'providers/inventory/merged-interface.ts',
        from: "if (seen.condition !== 'changing') return seen;",
        to: "if (seen.condition !== 'changing' || seen.id !== '') return seen;",
      },
    ],
    seeds,
  },
  {
    name: 'what an interface lacked counts as back while it is changing',
    edits: [
      {
        file: 'providers/inventory/apply-reading.ts',
        from: "if (seen.condition === 'changing') return missingWhileChanging(record, seen);",
        to: '',
      },
    ],
    seeds: `growing-while-addresses-are-missing-on-azure.json,${seeds}`,
  },
];

/** About what a cloud does not show: Azure says in another way than AWS what is gone. */
const aboutAbsence: ReadonlySet<string> = new Set([
  'an interface is withdrawn after a single listing',
  'an interface is withdrawn after a single refresh',
  'absence alone counts as missing',
  'the withdrawal brake holds nothing',
  'the withdrawal brake never opens',
  'the withdrawal brake counts terminated instances',
  'the withdrawal brake is forgotten at a restart',
  'an address is withdrawn after a single refresh',
  'addresses that are possibly gone are newly offered',
]);

/** What seeds reach too rarely. */
const regressions = [
  'held-by-the-former-leader-on-azure.json',
  'taken-while-hidden-on-azure.json',
  'vms-gone-while-their-nodes-stay-on-azure.json',
];

export function onAzureToo(mutants: readonly Mutant[]): readonly Mutant[] {
  return mutants
    .filter(({ name }) => aboutAbsence.has(name))
    .map(({ name, edits }) => ({ name: `${name} (Azure)`, edits, seeds: [...regressions, seeds].join() }));
}
