import { expect, test } from '@jest/globals';
import { type Holder, evidenceOf } from '../../../../src/manager/claims/holder-evidence.ts';
import { eni, view } from '../../node/allocation-facts.ts';

const has = eni(0, 2);
const [address = ''] = has.addresses;
const served: Holder = {
  isToBeServed: false,
  view: view([has]),
  isVerified: false,
  isNamed: false,
  isReadRefused: false,
  removal: 'leaving',
};
const notFound = { presence: 'notFound' } as const;
const withoutAddress = view([eni(1)]);

test.each<[string, Holder, ReturnType<typeof evidenceOf>]>([
  ['on whose instance the cloud shows it has it', served, 'shown'],
  [
    'about which the cloud has not answered yet needs a read',
    { ...served, view: { ...withoutAddress, read: false } },
    'unasked',
  ],
  ['that is still to be served needs a read', { ...served, view: undefined, isToBeServed: true }, 'unasked'],
  [
    'that claims the address itself needs a read',
    { ...served, view: { ...view([has]), unseen: new Set([address]) } },
    'unasked',
  ],
  [
    'that claims the interface itself needs a read',
    { ...served, view: { ...view([has]), unseen: new Set([has.id]) } },
    'unasked',
  ],
  [
    'that a Node verifies, and of which the cloud says nothing yet, is waited for',
    { ...served, isVerified: true, view: { ...withoutAddress, read: false } },
    'unanswered',
  ],
  [
    'on whose instance the cloud does not show it is about to lose it',
    { ...served, view: withoutAddress },
    'leaving',
  ],
  [
    'whose writes the API server does not take keeps it until one is taken',
    { ...served, view: withoutAddress, removal: 'stuck' },
    'stuck',
  ],
  [
    'of an instance that is not found claims what nothing confirms',
    { ...served, isVerified: true, view: { ...withoutAddress, ...notFound } },
    'unasked',
  ],
  [
    'of an instance that is not found, which shows the address itself, claims what nothing confirms',
    { ...served, isVerified: true, view: { ...view([has]), unseen: new Set([has.id]), ...notFound } },
    'unasked',
  ],
  [
    'of an instance that the cloud refuses to read claims what nothing confirms',
    { ...served, isVerified: true, isReadRefused: true, view: { ...withoutAddress, read: false } },
    'unasked',
  ],
  [
    'of an instance that the cloud refuses to read is waited for if a Node names it',
    {
      ...served,
      isVerified: true,
      isNamed: true,
      isReadRefused: true,
      view: { ...withoutAddress, read: false },
    },
    'unanswered',
  ],
  [
    'of an instance that is not found is waited for if a Node names it',
    {
      ...served,
      isVerified: true,
      isNamed: true,
      view: { ...view([has]), unseen: new Set([has.id]), ...notFound },
    },
    'unanswered',
  ],
  ['that is not ours to write has no say', { ...served, view: withoutAddress, removal: 'none' }, 'none'],
  ['that is not served has no say', { ...served, view: undefined }, 'none'],
])('a CiliumNode %s', (_, holder, expected) => {
  expect(evidenceOf(address, holder)).toBe(expected);
});
