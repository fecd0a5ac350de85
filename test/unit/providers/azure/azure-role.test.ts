import { expect, test } from '@jest/globals';
import { azureCalls } from '../../../../src/providers/azure/limits.ts';
import { linkedActions } from '../../../../src/simulator/arm/permissions.ts';
import { allOperations } from '../../../../src/simulator/arm/router.ts';
import { azureRole } from '../../../support/azure-role.ts';

/** A role needs nothing to list the subscriptions that it is in; and only the command check asks for permissions. */
const open = /^(Subscriptions\.List|Permissions\.ListForResource)$/;
/** The model lets those follow a change who may make it; Azure has actions for it. */
const progress: Readonly<Partial<Record<string, string>>> = {
  'Operations.Get': 'Microsoft.Compute/locations/operations/read',
  'NetworkOperations.Get': 'Microsoft.Network/locations/operations/read',
};
/** Headwater leaves the image out of what it writes. */
const notWritten = new Set(['imageReference']);

/** What a call needs, by the model of Azure, which names interfaces as Microsoft's clients do. */
function actionOf(call: string): string {
  const followed = progress[call];
  if (followed !== undefined) return followed;
  const name = call.replace(/^Interfaces\./, 'NetworkInterfaces.');
  return allOperations.find((operation) => operation.name === name)?.action ?? `nothing known: ${call}`;
}

test('the shipped role of Azure allows each call that Headwater sends, with what its bodies link to, and no other', () => {
  const called = azureCalls.filter((call) => !open.test(call)).map(actionOf);
  const links = Object.entries(linkedActions).flatMap(([field, action = '']) =>
    notWritten.has(field) ? [] : [action],
  );

  expect([...azureRole].sort()).toEqual([...new Set([...called, ...links])].sort());
});
