// The roles that the chart ships.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/simulator/workload/json.ts';

const chart = join(import.meta.dirname, '../../../charts/headwater');

export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ShippedRole {
  readonly kind: 'ClusterRole' | 'Role';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly RoleRule[];
}

/** What a role is for. */
export type RoleScope =
  | 'agent'
  | 'agent-taint'
  | 'cluster-pool'
  | 'eni'
  | 'multi-pool'
  | 'nodeipam'
  | 'nodeipam-cloud';

const files: Readonly<Record<RoleScope, readonly string[]>> = {
  agent: ['cluster-role-agent.yaml'],
  'agent-taint': ['cluster-role-agent-taint.yaml'],
  eni: ['cluster-role.yaml', 'role.yaml'],
  'cluster-pool': ['cluster-role-cluster-pool.yaml', 'role.yaml'],
  'multi-pool': ['cluster-role-multi-pool.yaml', 'role.yaml'],
  nodeipam: ['cluster-role-nodeipam.yaml', 'role-nodeipam.yaml'],
  'nodeipam-cloud': ['cluster-role-nodeipam-cloud.yaml', 'role-nodeipam.yaml'],
};

/** The ClusterRole, then the Role in the namespace of the Lease, if there is one. */
export async function shippedRoles(scope: RoleScope = 'eni'): Promise<readonly ShippedRole[]> {
  return Promise.all(
    files[scope].map(async (name) => parse(await readFile(join(chart, name), 'utf8')) as ShippedRole),
  );
}

/** The roles in the form that the API server accepts. */
export function roleObject(role: ShippedRole): JsonObject {
  return role as unknown as JsonObject;
}
