import { describe, expect, test } from '@jest/globals';
import { failureOf } from '../../../../src/providers/azure/errors.ts';
import { CallError, type CallResult } from '../../../../src/providers/gate/cloud-call.ts';

const update = 'VirtualMachineScaleSetVMs.Update';

const inactive = 'The provided instanceId 17 is not an active Virtual Machine Scale Set VM instanceId.';

const marked = "Operation 'Update VM' is not allowed on VM 'pool_0' since the VM is marked for deletion.";

interface Detail {
  readonly message?: string;
  readonly status?: number;
  readonly name?: string;
  readonly result?: CallResult;
}

function failure(code: string, detail: Detail = {}) {
  const { message = 'text', status = 400, name = update, result = 'refused' } = detail;
  return failureOf({ name }, new CallError({ result, code, message, status }));
}

const listOfSet = 'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces';

describe('a refusal of Azure', () => {
  test.each([
    ['TooManyRequests', { status: 429 }, 'throttled'],
    ['OperationNotAllowed', { status: 429 }, 'throttled'],
    ['HTTP429', { status: 429 }, 'throttled'],
    ['RetryableError', { status: 429 }, 'throttled'],
    ['RetryableErrorDueToAnotherOperation', { status: 429 }, 'conflict'],
    ['ReferencedResourceNotProvisioned', { status: 429 }, 'conflict'],
    ['AnotherOperationInProgress', { status: 429 }, 'conflict'],
    ['SubnetIsFull', {}, 'subnetExhausted'],
    [
      'InvalidResourceReference',
      { message: 'Resource /subscriptions/s/virtualNetworks/v/subnets/a not found' },
      'subnetGone',
    ],
    ['ResourceNotFound', { status: 404, name: 'Subnets.Get' }, 'subnetGone'],
    ['NotFound', { status: 404, name: 'VirtualMachineScaleSetVMs.Get' }, 'instanceGone'],
    ['ResourceNotFound', { status: 404, name: 'VirtualMachines.Get' }, 'instanceGone'],
    ['ResourceNotFound', { status: 404, name: 'Interfaces.Get' }, 'interfaceGone'],
    ['NotFound', { status: 404, name: listOfSet }, 'instanceGone'],
    ['ResourceNotFound', { status: 404, name: listOfSet }, 'unknown'],
    ['ParentResourceNotFound', { status: 404, name: 'VirtualMachineScaleSetVMs.Get' }, 'unknown'],
    ['ResourceNotFound', { status: 404, name: 'VirtualMachineScaleSets.Get' }, 'unknown'],
    ['ResourceGroupNotFound', { status: 404, name: 'VirtualMachines.Get' }, 'unknown'],
    ['OperationNotAllowed', { status: 409 }, 'conflict'],
    ['AnotherOperationInProgress', { status: 409 }, 'conflict'],
    ['SomethingElse', { status: 409 }, 'conflict'],
    ['PreconditionFailed', { status: 412 }, 'conflict'],
    ['RetryableError', { status: 200 }, 'conflict'],
    [
      'OperationNotAllowed',
      { status: 409, message: 'exceeding approved Total Regional Cores quota' },
      'limitReached',
    ],
    ['OperationNotAllowed', { status: 409, message: 'the VM is deallocated' }, 'instanceNotRunning'],
    ['PublicIPCountLimitReached', {}, 'limitReached'],
    ['PrivateIPAddressesPerVirtualMachineExceeded', {}, 'limitReached'],
    ['IpConfigurationsOnNicExceedsLimit', {}, 'limitReached'],
    ['OperationTimeExceeded', { status: 409 }, 'conflict'],
    ['AuthorizationFailed', { status: 403 }, 'notAuthorized'],
    ['RequestDisallowedByPolicy', { status: 403 }, 'notAuthorized'],
    ['SomethingForbidden', { status: 403 }, 'notAuthorized'],
    ['InvalidParameter', {}, 'invalid'],
    ['InvalidParameter', { message: inactive }, 'instanceGone'],
    ['ParentResourceNotFound', { status: 404 }, 'instanceGone'],
    ['OperationNotAllowed', { status: 409, message: marked }, 'instanceGone'],
    ['Conflict', { status: 409, message: marked, name: 'Interfaces.CreateOrUpdate' }, 'instanceGone'],
    [
      'OperationNotAllowed',
      { status: 409, message: marked, name: 'VirtualMachineScaleSets.Get' },
      'conflict',
    ],
    ['InvalidParameter', { message: inactive, name: 'VirtualMachineScaleSetVMs.Get' }, 'invalid'],
    ['VMScaleSetIpConfigurationsOnSameNicCannotUseDifferentSubnets', {}, 'invalid'],
    ['InternalServerError', { status: 500, result: 'noAnswer' as const }, 'unreachable'],
    ['ECONNRESET', { result: 'noAnswer' as const }, 'unreachable'],
    ['ENOTFOUND', { result: 'notSent' as const }, 'unreachable'],
    ['UnreadableAnswer', { status: 200, result: 'noAnswer' as const }, 'unreadable'],
  ])('with %s %j is %s', (code, detail, kind) => {
    expect(failure(code, detail).kind).toBe(kind);
  });

  test.each([
    [
      'AuthorizationFailed',
      "The client 'x' with object id 'y' does not have authorization to perform action 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write' over scope '/subscriptions/s' or the scope is invalid.",
      { permission: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write', about: 'instance' },
    ],
    [
      'LinkedAuthorizationFailed',
      "The client has permission to perform action 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write' on scope '/subscriptions/s', however it does not have permission to perform action(s) 'Microsoft.Network/virtualNetworks/subnets/join/action' on the linked scope(s) '/subscriptions/t' (respectively) or the linked scope(s) are invalid.",
      { permission: 'Microsoft.Network/virtualNetworks/subnets/join/action', about: 'subnet' },
    ],
    [
      'LinkedAuthorizationFailed',
      "The client has permission to perform action 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write' on scope '/subscriptions/s'; however, it does not have permission to perform action(s) 'Microsoft.Network/virtualNetworks/subnets/join/action,Microsoft.Network/networkSecurityGroups/join/action,Microsoft.Network/virtualNetworks/subnets/join/action' on the linked scope(s) '/subscriptions/t,/subscriptions/u,/subscriptions/v' (respectively) or the linked scope(s) are invalid.",
      {
        permission:
          'Microsoft.Network/virtualNetworks/subnets/join/action, Microsoft.Network/networkSecurityGroups/join/action',
        about: 'subnet',
      },
    ],
  ])('with %s names the missing permission', (code, message, expected) => {
    expect(failure(code, { message, status: 403 })).toMatchObject(expected);
  });

  test.each([
    ['InvalidAuthenticationToken', 'invalid'],
    ['CredentialUnavailableError', 'invalid'],
    ['ExpiredAuthenticationToken', 'expired'],
  ])('with %s is about %s credentials, and so about every call', (code, credentials) => {
    expect(failure(code, { status: 401 })).toMatchObject({
      kind: 'notAuthorized',
      credentials,
      about: 'action',
    });
  });

  test.each([
    ['AADSTS700024: Client assertion is not within its valid time range.', 'clock', /^set the clock of what/],
    ['AADSTS500133: Assertion is not within its valid time range.', 'clock', /^set the clock of what/],
    ['AADSTS7000215: Invalid client secret provided.', 'invalid', undefined],
  ])('knows a wrong clock by what the token service says: %s', (message, credentials, remedy) => {
    const found = failure('AuthenticationError', { message, status: 401 });

    expect(found).toMatchObject({ kind: 'notAuthorized', credentials, about: 'action' });
    if (remedy === undefined) expect(found.remedy).toBeUndefined();
    else expect(found.remedy).toMatch(remedy);
  });

  test.each([
    ['AuthorizationFailed', 403, 'instance'],
    ['ScopeLocked', 409, 'instance'],
    ['SomethingForbidden', 403, 'instance'],
    ['ModelIsChanging', 409, 'instance'],
    ['AnotherOperationInProgress', 409, 'instance'],
    ['InvalidParameter', 400, undefined],
    ['SubnetIsFull', 400, undefined],
  ])('with %s %d is about %s', (code, status, about) => {
    expect(failure(code, { status }).about).toBe(about);
  });

  test.each([
    [
      'on one VM of many names their scale set',
      'AuthorizationFailed',
      "does not have authorization to perform action 'A/write' over scope '/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/Pool/virtualMachines/17' or the scope is invalid.",
      "does not have authorization to perform action 'A/write' over scope '/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/pool/virtualmachines/…' or the scope is invalid.",
    ],
    [
      'that an assignment denies on one VM of many names their scale set',
      'DenyAssignmentAuthorizationFailed',
      "has permission to perform action 'A/write' on scope '/subscriptions/S/virtualMachineScaleSets/Pool/virtualMachines/17'; however, the access is denied because of the deny assignment with name 'D'.",
      "has permission to perform action 'A/write' on scope '/subscriptions/s/virtualmachinescalesets/pool/virtualmachines/…'; however, the access is denied because of the deny assignment with name 'D'.",
    ],
    [
      'on a subnet names the subnet and nothing else',
      'LinkedAuthorizationFailed',
      "The client has permission to perform action 'B/write' on scope '/subscriptions/s/virtualMachines/17'; however, it does not have permission to perform action(s) 'A/join/action' on the linked scope(s) '/subscriptions/s/resourcegroups/G/providers/Microsoft.Network/virtualNetworks/V/subnets/Pods' (respectively) or the linked scope(s) are invalid.",
      "it does not have permission to perform action(s) 'A/join/action' on the linked scope(s) '/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/v/subnets/pods' (respectively) or the linked scope(s) are invalid.",
    ],
    [
      'in another tenant names that and the scale set',
      'LinkedAuthorizationFailed',
      "The client has permission to perform action 'B/write' on scope '/subscriptions/S/virtualMachineScaleSets/Pool/virtualMachines/17', however the current tenant 'T' is not authorized to access linked subscription 'U'.",
      "The client has permission to perform action 'B/write' on scope '/subscriptions/s/virtualmachinescalesets/pool/virtualmachines/…', however the current tenant 'T' is not authorized to access linked subscription 'U'.",
    ],
  ])('of a right %s, in one spelling', (_, code, message, said) => {
    expect(failure(code, { message, status: 403 }).message).toBe(said);
  });

  test.each([
    [
      'SubscriptionNotFound',
      "check that the subscription exists, and that Headwater's identity has a role in it",
    ],
    ['ScopeLocked', 'remove the lock'],
    [
      'DenyAssignmentAuthorizationFailed',
      'lift the deny assignment: on AKS, the lockdown of the node resource group',
    ],
    ['ModelIsChanging', 'wait until the change under way has ended; Headwater retries'],
    ['ChangeNotShown', 'look in the activity log of the VM for what ignores or undoes the change'],
    ['TooManyConfigurations', 'use more nodes with fewer pods each, because this limit cannot be raised'],
    [
      'NoRegisteredProviderFound',
      'use a cloud and a region that have this API version, or one from 2024-07-01 on',
    ],
  ])('with %s says what to do: %s', (code, remedy) => {
    expect(failure(code)).toMatchObject({ remedy });
  });

  test('of a link into another tenant blames no permission that Headwater has', () => {
    const message =
      "The client has permission to perform action 'B/write' on scope '/subscriptions/s', however the current tenant 'T' is not authorized to access linked subscription 'U'.";

    const refused = failure('LinkedAuthorizationFailed', { status: 403, message });

    expect(refused.permission).toBeUndefined();
    expect(refused.remedy).toBe("give Headwater's identity a role in the linked subscription");
  });

  test.each([
    ['InternalServerError', { status: 500, result: 'noAnswer' }, true],
    ['ServiceUnavailable', { status: 503, result: 'noAnswer' }, true],
    ['HTTP500', { status: 500, result: 'noAnswer' }, true],
    ['NetworkingInternalOperationError', { status: 200 }, true],
    ['InternalExecutionError', { status: 200 }, true],
    ['HTTP502', { status: 502, result: 'noAnswer' }, false],
    ['TooManyRequests', { status: 503, result: 'noAnswer' }, false],
    ['ECONNRESET', { status: undefined, result: 'noAnswer' }, false],
  ] as const)(
    'with %s is told as trouble inside the cloud where it is that: %j',
    (code, detail, isInside) => {
      const { result = 'refused', status } = { result: 'refused', ...detail } as const;
      const { remedy } = failureOf(
        { name: update },
        new CallError({ result, code, message: 'text', status }),
      );

      expect(remedy?.startsWith('the cloud failed inside') ?? false).toBe(isInside);
    },
  );

  test('of a wrong subscription names it and blames no permission', () => {
    const message = "The subscription '0-0' could not be found.";

    const refused = failure('SubscriptionNotFound', { status: 404, message });

    expect(refused).toMatchObject({ kind: 'notAuthorized', about: 'action', message });
    expect(refused).not.toHaveProperty('permission');
  });
});
