import { describe, expect, test } from '@jest/globals';
import { Ec2Refusal } from '../../../../src/simulator/ec2/ec2-refusal.ts';
import { type SignedRequest, verifySignature } from '../../../../src/simulator/ec2/sigv4.ts';

// Signed with botocore 1.43 for exactly these headers.
const signed: SignedRequest = {
  method: 'POST',
  url: '/',
  headers: {
    host: 'ec2.us-east-1.amazonaws.com',
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    'x-amz-date': '20260102T030405Z',
    authorization: '',
  },
  body: 'Action=DescribeVpcs&Version=2016-11-15',
};

const check = {
  credentials: [
    { accessKeyId: 'AKIDEXAMPLEAKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG', user: 'tester' },
  ],
  region: 'us-east-1',
  now: Date.UTC(2026, 0, 2, 3, 4, 5),
};

const scope = '20260102/us-east-1/ec2/aws4_request';
const signature = '31009e6a5606179439daa066ebb14853f4235637182aa34c801d187a552bc454';
const authorization = (change: { key?: string; scope?: string; signature?: string } = {}): string =>
  `AWS4-HMAC-SHA256 Credential=${change.key ?? 'AKIDEXAMPLEAKIDEXAMPLE'}/${change.scope ?? scope}, SignedHeaders=content-type;host;x-amz-date, Signature=${change.signature ?? signature}`;

function refusal(request: SignedRequest, now = check.now): string {
  try {
    return verifySignature(request, { ...check, now }).user;
  } catch (error) {
    if (error instanceof Ec2Refusal) return `${error.status} ${error.code}`;
    throw error;
  }
}

const withHeaders = (headers: Record<string, string | undefined>): SignedRequest => ({
  ...signed,
  headers: { ...signed.headers, authorization: authorization(), ...headers },
});

describe('verifySignature', () => {
  test('accepts what an independent signer signed', () => {
    expect(refusal(withHeaders({}))).toBe('tester');
  });

  test('accepts a signed query', () => {
    const request = {
      ...withHeaders({
        authorization: authorization({
          signature: '4efa8bcf88665ebea828f5edba94bb1eba31ecad987519ca306655887f4a6094',
        }),
      }),
      method: 'GET',
      url: '/?Version=2016-11-15&Action=DescribeTags&Filter.1.Name=key&Filter.1.Value.1=a%2Ab%20c',
      body: '',
    };

    expect(refusal(request)).toBe('tester');
  });

  test.each([
    ['nothing is signed', withHeaders({ authorization: undefined }), '403 MissingAuthenticationToken'],
    ['another scheme', withHeaders({ authorization: 'Basic x' }), '400 IncompleteSignature'],
    [
      'an unknown key',
      withHeaders({ authorization: authorization({ key: 'AKIAOTHEROTHEROTHER' }) }),
      '401 AuthFailure',
    ],
    [
      'a wrong signature',
      withHeaders({ authorization: authorization({ signature: '0'.repeat(64) }) }),
      '403 SignatureDoesNotMatch',
    ],
    [
      'another body',
      { ...withHeaders({}), body: 'Action=DescribeSubnets&Version=2016-11-15' },
      '403 SignatureDoesNotMatch',
    ],
    ['another header', withHeaders({ host: 'localhost' }), '403 SignatureDoesNotMatch'],
    ['another method', { ...withHeaders({}), method: 'GET' }, '403 SignatureDoesNotMatch'],
    [
      'another region',
      withHeaders({ authorization: authorization({ scope: scope.replace('us-east-1', 'eu-west-1') }) }),
      '403 SignatureDoesNotMatch',
    ],
    [
      'another service',
      withHeaders({ authorization: authorization({ scope: scope.replace('ec2', 's3') }) }),
      '403 SignatureDoesNotMatch',
    ],
    ['no date', withHeaders({ 'x-amz-date': undefined }), '400 IncompleteSignature'],
  ])('refuses a request with a bad signature: %s', (_, request, expected) => {
    expect(refusal(request)).toBe(expected);
  });

  test.each([
    [15 * 60_000, 'tester'],
    [15 * 60_000 + 1, '400 RequestExpired'],
    [-15 * 60_000 - 1, '400 RequestExpired'],
  ])('answers a request whose clock is %i ms off with %s', (skew, expected) => {
    expect(refusal(withHeaders({}), check.now + skew)).toBe(expected);
  });
});
