import { describe, expect, test } from '@jest/globals';
import { isAllowed, type Permission, readIamPolicy } from '../../../../src/simulator/ec2/iam-policy.ts';

const eni = 'arn:aws:ec2:us-east-1:123456789012:network-interface/eni-1';
const wanted: Permission = {
  action: 'ec2:DeleteNetworkInterface',
  resource: eni,
  context: new Map([['aws:ResourceTag/owner', 'us']]),
};

function policyOf(change: Readonly<Record<string, unknown>>): string {
  const statement = { Effect: 'Allow', Action: 'ec2:DeleteNetworkInterface', Resource: '*', ...change };
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
}

function owner(operator: string, value: string | readonly string[]): Readonly<Record<string, unknown>> {
  return { Condition: { [operator]: { 'aws:ResourceTag/owner': value } } };
}

describe('an IAM statement', () => {
  test.each<[boolean, string, Readonly<Record<string, unknown>>]>([
    [true, 'for everything', {}],
    [true, 'whose pattern fits', { Action: ['ec2:Describe*', 'ec2:delete*'] }],
    [false, 'for another action', { Action: 'ec2:DeleteNetwork' }],
    [true, 'for such resources', { Resource: 'arn:aws:ec2:*:*:network-interface/*' }],
    [true, 'for one character more', { Resource: 'arn:aws:ec2:*:*:network-interface/eni-?' }],
    [false, 'for other resources', { Resource: ['arn:aws:ec2:*:*:instance/*', 'arn:aws:ec2:*:*:subnet/*'] }],
    [false, 'in which a dot is a dot', { Resource: eni.replace('-east', '.east') }],
    [true, 'with the value', owner('StringEquals', ['them', 'us'])],
    [false, 'with another value', owner('StringEquals', 'u*')],
    [true, 'with a value like it', owner('StringLike', 'u*')],
    [true, 'with an ARN like it', owner('ArnLike', '?s')],
    [false, 'with a key that there is not', { Condition: { StringLike: { 'aws:ResourceTag/other': '*' } } }],
    [
      false,
      'of whose conditions one is not met',
      { Condition: { StringEquals: { 'aws:ResourceTag/owner': 'us' }, StringLike: { 'ec2:Vpc': '*' } } },
    ],
  ])('allows (%s) a request: %s', (allowed, _, change) => {
    expect(isAllowed(readIamPolicy(policyOf(change)), wanted)).toBe(allowed);
  });

  test('lets an action report a missing resource, also when it has conditions on that resource', () => {
    const policy = readIamPolicy(policyOf(owner('StringEquals', 'them')));

    expect(isAllowed(policy, { ...wanted, context: undefined })).toBe(true);
    expect(isAllowed(policy, { ...wanted, action: 'ec2:CreateTags', context: undefined })).toBe(false);
  });
});

test.each([
  ['another version', policyOf({}).replace('2012-10-17', '2008-10-17'), /2012-10-17/],
  ['a denial', policyOf({ Effect: 'Deny' }), /Allow/],
  ['a negated element', policyOf({ NotAction: 'ec2:*' }), /NotAction/],
  ['an operator that is not understood', policyOf({ Condition: { Null: { 'ec2:Vpc': 'true' } } }), /Null/],
  ['no statement', '{"Version":"2012-10-17","Statement":[]}', /Statement/],
  ['no JSON', 'Version', /JSON/],
])('an IAM policy with %s is refused', (_, text, problem) => {
  expect(() => readIamPolicy(text)).toThrow(problem);
});
