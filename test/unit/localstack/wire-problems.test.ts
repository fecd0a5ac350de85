import { describe, expect, it } from '@jest/globals';
import {
  addressesAskedFor,
  changes,
  refusedElse,
  saidWrongly,
  signedWrongly,
  deleteOnTerminationCalls,
  tokensTwice,
} from '../../../localstack/wire-problems.ts';
import type { TappedCall } from '../../../localstack/wire-tap.ts';

function call(query: string, changed: Partial<TappedCall> = {}): TappedCall {
  const body = `${query}&Version=2016-11-15`;
  const parameters = new URLSearchParams(body);
  return {
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
    action: parameters.get('Action') ?? '',
    parameters,
    status: 200,
    errorCode: undefined,
    ...changed,
  };
}

const create = (token: string) =>
  call(`Action=CreateNetworkInterface&ClientToken=${token}&SecondaryPrivateIpAddressCount=4`);
const assign = call('Action=AssignPrivateIpAddresses&SecondaryPrivateIpAddressCount=3');
const refused = { status: 400, errorCode: 'InvalidSubnetID.NotFound' };
const modify = (value: string) =>
  call(
    `Action=ModifyNetworkInterfaceAttribute&Attachment.AttachmentId=a-1&Attachment.DeleteOnTermination=${value}`,
  );

describe('a request on the wire', () => {
  it.each([
    ['by another method', { method: 'GET' }],
    ['to another path', { url: '/ec2' }],
    ['as another type', { headers: { 'content-type': 'application/json' } }],
    ['in another version', { parameters: new URLSearchParams('Version=2013-10-15') }],
  ])('is wrong %s', (_, changed) => {
    expect(saidWrongly([assign])).toEqual([]);
    expect(saidWrongly([call('Action=DescribeVpcs', changed)])).toHaveLength(1);
  });

  it('is wrong without a signature', () => {
    expect(signedWrongly([assign], { credentials: [], region: 'us-east-1', now: 0 })).toHaveLength(1);
  });

  it.each([
    ['no token', [create('')], 1],
    ['the token of another', [create('a'), create('a')], 1],
    ['tokens of their own', [create('a'), create('b')], 0],
  ])('is checked for interfaces created with %s', (_, calls, problems) => {
    expect(tokensTwice(calls)).toHaveLength(problems);
  });
});

describe('an answer on the wire', () => {
  it.each([
    ['the expected refusal', refused, 0],
    ['another refusal', { status: 400, errorCode: 'InvalidParameterValue' }, 1],
    ['nothing', { status: undefined }, 1],
  ])('is checked when it is %s', (_, changed, problems) => {
    expect(refusedElse([call('Action=DescribeVpcs', changed)], 'InvalidSubnetID.NotFound')).toHaveLength(
      problems,
    );
  });

  it('counts for addresses only if the call was granted', () => {
    expect(addressesAskedFor([create('a'), assign, { ...assign, ...refused }])).toBe(7);
  });

  it('shows how often delete-on-termination is set for each attachment', () => {
    expect([...deleteOnTerminationCalls([modify('true'), modify('false'), modify('true')])]).toEqual([
      ['a-1', 2],
    ]);
  });

  it('belongs to a change, unless its call reads or sets delete-on-termination', () => {
    expect(changes([call('Action=DescribeVpcs'), modify('true'), assign])).toEqual([assign]);
  });
});
