import { describe, expect, test } from '@jest/globals';
import { isAllowed, seesSubscription } from '../../../../src/simulator/arm/principals.ts';
import { otherCase } from '../../../../src/simulator/arm/spelling.ts';

const group = '/subscriptions/S/resourceGroups/G';
const read = 'Microsoft.Network/virtualNetworks/subnets/read';

describe('a role', () => {
  test.each([
    [true, '/', '*'],
    [true, '/subscriptions/s', '*/read'],
    [true, group, 'Microsoft.Network/*'],
    [true, group.toUpperCase(), read.toLowerCase()],
    [false, group, '*/write'],
    [false, '/subscriptions/S/resourceGroups/GG', '*'],
    [false, '/subscriptions/S/resourceGroups/G/providers/x', '*'],
    [false, group, 'MicrosoftxNetwork/*'],
  ])('allows (%s) a look below %s by %s', (allowed, scope, action) => {
    const principal = { name: 'p', clientId: 'c', federated: false, identity: false };
    const roles = [{ scope, actions: [action] }];
    expect(isAllowed({ ...principal, roles }, read, `${group}/providers/Microsoft.Network/x`)).toBe(allowed);
  });
});

describe('a subscription', () => {
  test.each([
    [true, undefined],
    [true, '/'],
    [true, group],
    [true, '/subscriptions/s'],
    [false, '/subscriptions/SS/resourceGroups/G'],
  ])('is shown (%s) to who has a role on %s', (shown, scope) => {
    const roles = scope === undefined ? undefined : [{ scope, actions: ['a/read'] }];
    const principal = { name: 'p', clientId: 'c', federated: false, identity: false };
    expect(seesSubscription({ ...principal, ...(roles && { roles }) }, 'S')).toBe(shown);
  });
});

describe('an id in another case', () => {
  test('is the same id, with the group in capitals and types in lower case', () => {
    expect(otherCase(`${group.replace('/G', '/nodes')}/providers/Microsoft.Compute/virtualMachines/a`)).toBe(
      '/subscriptions/S/resourcegroups/NODES/providers/Microsoft.Compute/virtualmachines/a',
    );
  });
});
