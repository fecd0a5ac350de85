import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type AccessScope, neededAccess } from '../../../../src/kubernetes/access/needed-access.ts';

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

function shipped(name: string): Role {
  return parse(
    readFileSync(new URL(`../../../../charts/headwater/${name}`, import.meta.url), 'utf8'),
  ) as Role;
}

/** One line for each permission of the role. */
function grantsOf({ metadata: { namespace = '*' }, rules }: Role): string[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames = ['*'], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) =>
          verbs.map((verb) => [verb, group, resource, name, namespace].join(' ')),
        ),
      ),
    ),
  );
}

function linesOf(needed: ReturnType<typeof neededAccess>): string[] {
  return needed.map(({ verb, group, resource, name = '*', namespace = '*' }) =>
    [verb, group, resource, name, namespace].join(' '),
  );
}

describe('the access that Headwater needs', () => {
  test.each<[string, AccessScope, string, readonly string[]]>([
    ['eni', { mode: 'eni', gc: true }, 'headwater', ['cluster-role.yaml', 'role.yaml']],
    [
      'eni that opens Nodes for pods',
      { mode: 'eni', gc: true, managesTaint: true },
      'headwater',
      ['cluster-role.yaml', 'cluster-role-agent-taint.yaml', 'role.yaml'],
    ],
    [
      'cluster-pool that opens Nodes for pods',
      { mode: 'cluster-pool', gc: true, createsDefinition: true, looksAtPods: true, managesTaint: true },
      'headwater',
      ['cluster-role-cluster-pool.yaml', 'cluster-role-agent-taint.yaml', 'role.yaml'],
    ],
    [
      'cluster-pool',
      { mode: 'cluster-pool', gc: true, createsDefinition: true, looksAtPods: true },
      'headwater',
      ['cluster-role-cluster-pool.yaml', 'role.yaml'],
    ],
    [
      'multi-pool',
      { mode: 'multi-pool', gc: true, createsDefinition: true, createsPools: true, looksAtPods: true },
      'headwater',
      ['cluster-role-multi-pool.yaml', 'role.yaml'],
    ],
    [
      'nodeipam',
      { mode: 'nodeipam' },
      'headwater-nodeipam',
      ['cluster-role-nodeipam.yaml', 'role-nodeipam.yaml'],
    ],
    [
      'nodeipam that follows a cloud',
      { mode: 'nodeipam', setsConditions: true },
      'headwater-nodeipam',
      ['cluster-role-nodeipam-cloud.yaml', 'role-nodeipam.yaml'],
    ],
  ])('of %s is what the roles of the chart allow, and nothing else', (_, scope, name, files) => {
    const roles = files.map(shipped);

    const needed = neededAccess({ namespace: 'kube-system', name, isShared: true }, scope);

    expect(roles.flatMap(grantsOf).toSorted()).toEqual(linesOf(needed).toSorted());
    expect(new Set(roles.map(({ kind }) => kind))).toEqual(new Set(['ClusterRole', 'Role']));
  });

  test('includes no Leases without an election', () => {
    const resources = new Set(neededAccess(undefined).map(({ resource }) => resource));

    expect([...resources]).not.toContain('leases');
    expect(resources.size).toBe(6);
  });
});
