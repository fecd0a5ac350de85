// Operations of Resource Manager itself: subscriptions, resource groups, and what their callers may do.
import type { JsonObject } from '../workload/json.ts';
import { answer, type ArmOperation } from './arm-call.ts';
import { isAllowed, rolesAt, seesSubscription } from './principals.ts';
import { groupOf, keyOf, nameOf } from './resource-path.ts';

const provider = 'Microsoft.Resources';

const subscriptionOf = (id: string, tenantId: string): JsonObject => ({
  id: `/subscriptions/${id}`,
  subscriptionId: id,
  tenantId,
  displayName: id,
  state: 'Enabled',
});

export const resourceOperations: readonly ArmOperation[] = [
  {
    name: 'Subscriptions.List',
    method: 'GET',
    route: '/subscriptions',
    provider,
    run: ({ caller }, { cloud: { subscriptions, tenant } }) => {
      const seen = [...subscriptions.keys()].filter((id) => seesSubscription(caller, id));
      return answer({ value: seen.map((id) => subscriptionOf(id, tenant)) });
    },
  },
  {
    name: 'Subscriptions.Get',
    method: 'GET',
    route: '/subscriptions/{subscription}',
    provider,
    action: `${provider}/subscriptions/read`,
    run: ({ path }, { cloud }) => answer({ ...subscriptionOf(nameOf(path), cloud.tenant), id: path }),
  },
  {
    name: 'ResourceGroups.Get',
    method: 'GET',
    route: '/subscriptions/{subscription}/resourceGroups/{group}',
    provider,
    action: `${provider}/subscriptions/resourceGroups/read`,
    run: ({ path, parameters }, { cloud }) => {
      const groups = cloud.subscriptions.get((parameters['subscription'] ?? '').toLowerCase());
      const name = groups?.get(keyOf(groupOf(path))) ?? '';
      return answer({
        id: `/subscriptions/${parameters['subscription'] ?? ''}/resourceGroups/${name}`,
        name,
        type: 'Microsoft.Resources/resourceGroups',
        location: cloud.location,
        properties: { provisioningState: 'Succeeded' },
      });
    },
  },
  permissionsOf('ListForResourceGroup', ''),
  permissionsOf('ListForResource', '/providers/{namespace}/{type}/{name}'),
  permissionsOf('ListForResource', '/providers/{namespace}/{parentType}/{parent}/{type}/{name}'),
];

/** `place`: below a resource group. */
function permissionsOf(name: string, place: string): ArmOperation {
  const authorization = 'Microsoft.Authorization';
  const list = `/providers/${authorization}/permissions`;
  return {
    name: `Permissions.${name}`,
    method: 'GET',
    route: `/subscriptions/{subscription}/resourceGroups/{group}${place}${list}`,
    provider: authorization,
    action: `${authorization}/permissions/read`,
    run: ({ caller, path }, { openActions }) => {
      const scope = path.slice(0, -list.length);
      const data = { dataActions: [], notDataActions: [] };
      if (openActions !== undefined) {
        const actions = openActions.filter((action) => isAllowed(caller, action, scope));
        return answer({ value: [{ actions, notActions: [], ...data }] });
      }
      const value = rolesAt(caller, scope).map(({ actions, notActions = [] }) => ({
        actions,
        notActions,
        ...data,
      }));
      return answer({ value });
    },
  };
}
