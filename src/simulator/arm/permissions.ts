// The permissions that a call needs: its own action, and actions on what its body links to.
import { isObject, type Json, textAt } from '../workload/json.ts';
import type { ArmCall } from './arm-call.ts';
import { ArmRefusal } from './arm-refusal.ts';
import { isAllowed, type Principal } from './principals.ts';

/** Actions that a link in a body needs, by the field that links. */
export const linkedActions: Readonly<Partial<Record<string, string>>> = {
  subnet: 'Microsoft.Network/virtualNetworks/subnets/join/action',
  applicationSecurityGroups: 'Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action',
  loadBalancerBackendAddressPools: 'Microsoft.Network/loadBalancers/backendAddressPools/join/action',
  loadBalancerInboundNatPools: 'Microsoft.Network/loadBalancers/inboundNatPools/join/action',
  loadBalancerInboundNatRules: 'Microsoft.Network/loadBalancers/inboundNatRules/join/action',
  applicationGatewayBackendAddressPools:
    'Microsoft.Network/applicationGateways/backendAddressPools/join/action',
  networkSecurityGroup: 'Microsoft.Network/networkSecurityGroups/join/action',
  publicIPAddress: 'Microsoft.Network/publicIPAddresses/join/action',
  publicIPPrefix: 'Microsoft.Network/publicIPPrefixes/join/action',
  diskEncryptionSet: 'Microsoft.Compute/diskEncryptionSets/read',
  userAssignedIdentities: 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action',
  imageReference: 'Microsoft.Compute/galleries/images/versions/read',
};

/** Refuses a call whose caller may not do it. `allowed`: the only operations by name that anybody may call. */
export function refuseUnauthorized(call: ArmCall, allowed: ReadonlySet<string> | undefined): void {
  const { operation, caller, path } = call;
  // Operations are of the subscription, and those who may only change a resource follow the progress of it, too.
  if (operation.name.startsWith('Operations.Get')) return;
  const isOpen = allowed === undefined || allowed.has(operation.name);
  const { action } = operation;
  if (!isOpen || (action !== undefined && !isAllowed(caller, action, path))) {
    throw new ArmRefusal(
      'AuthorizationFailed',
      `${clientOf(caller)} does not have authorization to perform action '${action}' over scope '${path}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
      403,
    );
  }
  if (operation.method !== 'PUT' || caller.roles === undefined) return;
  for (const link of linksIn(call.body)) {
    if (isAllowed(caller, link.action, link.id)) continue;
    throw new ArmRefusal(
      'LinkedAuthorizationFailed',
      `${clientOf(caller)} has permission to perform action '${action}' on scope '${path}'; however, it does not have permission to perform action(s) '${link.action}' on the linked scope(s) '${link.id}' (respectively) or the linked scope(s) are invalid.`,
      403,
    );
  }
}

function clientOf({ clientId }: Principal): string {
  return `The client '${clientId}' with object id '${clientId}'`;
}

function* linksIn(value: Json | undefined): Generator<{ readonly action: string; readonly id: string }> {
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) yield* linksIn(item);
    return;
  }
  if (!isObject(value)) return;
  for (const [field, part] of Object.entries(value)) {
    const action = linkedActions[field];
    if (action === undefined) {
      yield* linksIn(part);
      continue;
    }
    for (const id of idsIn(field, part)) yield { action, id };
  }
}

/** Identities are a map by id; anything else links by the member `id`, once or in a list. */
function idsIn(field: string, part: Json | undefined): readonly string[] {
  if (field === 'userAssignedIdentities' && isObject(part)) return Object.keys(part);
  const items = Array.isArray(part) ? (part as readonly Json[]) : [part];
  return items.map((item) => textAt(item, 'id')).filter((id) => id !== '');
}
