// Service accounts with the roles that the chart ships, and kubeconfigs for them.
import { stringify } from 'yaml';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import { roleObject, type ShippedRole } from './shipped-roles.ts';

/** One request as the administrator; rejects if it is refused. */
export type AdminCall = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: JsonObject,
) => Promise<JsonObject>;

/** The namespace of the controller. */
export const installNamespace = 'kube-system';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

export function rolePath({ kind, metadata: { namespace } }: ShippedRole): string {
  return kind === 'ClusterRole' ? `${rbac}/clusterroles` : `${rbac}/namespaces/${namespace}/roles`;
}

/** Creates the account, bound to these roles, which must exist. */
export async function createServiceAccount(
  call: AdminCall,
  name: string,
  roles: readonly ShippedRole[],
): Promise<void> {
  const subjects = [{ kind: 'ServiceAccount', name, namespace: installNamespace }];
  await call('POST', `/api/v1/namespaces/${installNamespace}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name },
  });
  for (const role of roles) {
    await call('POST', rolePath(role).replace(/roles$/, 'rolebindings'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: `${role.kind}Binding`,
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role.kind, name: role.metadata.name },
      subjects,
    });
  }
}

export async function createRoles(call: AdminCall, roles: readonly ShippedRole[]): Promise<void> {
  for (const role of roles) await call('POST', rolePath(role), roleObject(role));
}

/** Replaces the rules of the role. */
export async function replaceRole(call: AdminCall, role: ShippedRole): Promise<void> {
  await call('PUT', `${rolePath(role)}/${role.metadata.name}`, roleObject(role));
}

/** A token of the account, valid for an hour. */
export async function tokenOf(call: AdminCall, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${installNamespace}/serviceaccounts/${name}/token`;
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  return textAt(await call('POST', path, request), 'status', 'token');
}

interface KubeConfig {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

/** As YAML. */
export function kubeConfigText({ url, ca, token }: KubeConfig): string {
  const name = 'e2e';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name, cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: installNamespace } }],
    'current-context': name,
  });
}
