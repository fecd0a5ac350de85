import { describe, expect, test } from '@jest/globals';
import { CallError, type CallResult } from '../../../../src/providers/gate/cloud-call.ts';
import type { Ec2Action } from '../../../../src/providers/aws/ec2-api.ts';
import { failureOf } from '../../../../src/providers/aws/errors.ts';

interface Row {
  readonly code: string;
  readonly kind: string;
  readonly action?: Ec2Action;
  readonly message?: string;
  readonly result?: CallResult;
}

const rows: readonly Row[] = [
  { code: 'RequestLimitExceeded', kind: 'throttled' },
  { code: 'Throttling', kind: 'throttled' },
  { code: 'InsufficientFreeAddressesInSubnet', kind: 'subnetExhausted', action: 'CreateNetworkInterface' },
  { code: 'InvalidSubnetID.NotFound', kind: 'subnetGone', action: 'CreateNetworkInterface' },
  { code: 'InsufficientCidrBlocks', kind: 'prefixSpaceFragmented' },
  {
    code: 'InvalidParameterValue',
    message: "There aren't sufficient free Ipv4 addresses or prefixes",
    kind: 'prefixSpaceFragmented',
  },
  {
    code: 'InvalidParameterValue',
    message: "There aren't sufficient free Ipv6 addresses or prefixes",
    kind: 'prefixSpaceFragmented',
  },
  { code: 'PrivateIpAddressLimitExceeded', kind: 'limitReached', action: 'AssignPrivateIpAddresses' },
  { code: 'AttachmentLimitExceeded', kind: 'limitReached', action: 'AttachNetworkInterface' },
  { code: 'NetworkInterfaceLimitExceeded', kind: 'limitReached', action: 'CreateNetworkInterface' },
  { code: 'InvalidInstanceID.NotFound', kind: 'instanceGone', action: 'AttachNetworkInterface' },
  { code: 'InvalidInstanceID.Malformed', kind: 'invalid', action: 'AttachNetworkInterface' },
  { code: 'IncorrectInstanceState', kind: 'instanceNotRunning', action: 'AttachNetworkInterface' },
  {
    code: 'IncorrectState',
    message: "Instance 'i-1' is not 'running'.",
    kind: 'instanceNotRunning',
    action: 'AttachNetworkInterface',
  },
  {
    code: 'IncorrectState',
    message: "Instance 'i-1' is shutting-down.",
    kind: 'instanceNotRunning',
    action: 'AttachNetworkInterface',
  },
  {
    code: 'InvalidParameterValue',
    message: "Instance 'i-1' is terminated.",
    kind: 'instanceNotRunning',
    action: 'AttachNetworkInterface',
  },
  {
    code: 'IncorrectState',
    message: "The network interface attachment 'eni-attach-…' is detaching.",
    kind: 'conflict',
    action: 'DetachNetworkInterface',
  },
  { code: 'IncorrectState', message: 'Network interface is being changed', kind: 'unknown' },
  {
    code: 'InvalidInterface.IpAddressLimitExceeded',
    kind: 'limitReached',
    action: 'AssignPrivateIpAddresses',
  },
  { code: 'ResourceLimitExceeded', kind: 'limitReached', action: 'CreateNetworkInterface' },
  { code: 'SecurityGroupsPerInterfaceLimitExceeded', kind: 'limitReached', action: 'CreateNetworkInterface' },
  { code: 'PendingVerification', kind: 'notAuthorized' },
  {
    code: 'InvalidParameterValue',
    message: "Instance 'i-1' already has an interface attached at device index '1'.",
    kind: 'deviceIndexTaken',
    action: 'AttachNetworkInterface',
  },
  { code: 'InvalidParameterValue', message: 'something else', kind: 'invalid' },
  { code: 'InvalidNetworkInterfaceID.NotFound', kind: 'notYetVisible', action: 'AttachNetworkInterface' },
  { code: 'InvalidNetworkInterfaceID.NotFound', kind: 'interfaceGone', action: 'AssignPrivateIpAddresses' },
  { code: 'InvalidNetworkInterfaceID.NotFound', kind: 'interfaceGone', action: 'DeleteNetworkInterface' },
  { code: 'InvalidAttachmentID.NotFound', kind: 'notYetVisible', action: 'ModifyNetworkInterfaceAttribute' },
  { code: 'InvalidNetworkInterface.InUse', kind: 'conflict', action: 'DeleteNetworkInterface' },
  { code: 'Resource.AlreadyAssociated', kind: 'conflict', action: 'AssociateAddress' },
  { code: 'InvalidAllocationID.NotFound', kind: 'conflict', action: 'AssociateAddress' },
  { code: 'IncorrectInstanceState', kind: 'instanceNotRunning', action: 'AssociateAddress' },
  { code: 'InvalidNetworkInterfaceID.NotFound', kind: 'interfaceGone', action: 'AssociateAddress' },
  {
    code: 'InvalidParameterValue',
    message: "Network interface 'eni-1' is currently in use.",
    kind: 'conflict',
    action: 'DeleteNetworkInterface',
  },
  { code: 'UnauthorizedOperation', kind: 'notAuthorized' },
  { code: 'AuthFailure', kind: 'notAuthorized' },
  { code: 'RequestExpired', kind: 'notAuthorized' },
  { code: 'CredentialsProviderError', kind: 'notAuthorized', result: 'notSent' },
  { code: 'InvalidGroup.NotFound', kind: 'invalid', action: 'CreateNetworkInterface' },
  { code: 'MissingParameter', kind: 'invalid' },
  { code: 'UnsupportedOperation', kind: 'invalid' },
  { code: 'OperationNotPermitted', kind: 'unknown' },
  { code: 'SomethingNew', kind: 'unknown' },
  { code: 'InternalError', kind: 'unreachable', result: 'noAnswer' },
  { code: 'Timeout', kind: 'unreachable', result: 'noAnswer' },
  { code: 'ECONNREFUSED', kind: 'unreachable', result: 'notSent' },
  { code: 'InvalidSomething', kind: 'unreachable', result: 'noAnswer' },
  { code: 'Fenced', kind: 'fenced', result: 'notSent', action: 'DeleteNetworkInterface' },
];

describe('an error of EC2', () => {
  test.each(rows)(
    '$code to $action ($message) has the kind $kind',
    ({ code, kind, action = 'DescribeSubnets', message = 'said so', result = 'refused' }) => {
      const failure = failureOf(action, new CallError({ result, code, message, requestId: 'r-1' }));

      expect(failure).toMatchObject({ kind, action, code, message, requestId: 'r-1' });
    },
  );

  test.each([
    ['AuthFailure', 'invalid'],
    ['CredentialsProviderError', 'invalid'],
    ['ExpiredToken', 'expired'],
    ['RequestExpired', 'clock'],
    ['InvalidSecurity.RequestHasExpired', 'clock'],
    ['UnauthorizedOperation', undefined],
    ['OptInRequired', undefined],
  ])('says by its code %s about the credentials: %s', (code, credentials) => {
    const error = new CallError({ result: 'refused', code, message: 'no' });

    expect(failureOf('DescribeVpcs', error).credentials).toBe(credentials);
  });

  test('has the same text each time, without the part that only EC2 can decode', () => {
    const said = 'You are not authorized to perform this operation. User: arn is not authorized.';
    const failures = ['Zm9v-bar_', 'YmF6+x=='].map((part) =>
      failureOf(
        'CreateNetworkInterface',
        new CallError({
          result: 'refused',
          code: 'UnauthorizedOperation',
          message: `${said} Encoded authorization failure message: ${part}`,
        }),
      ),
    );

    expect(failures.map(({ message }) => message)).toEqual([said, said]);
  });

  test.each([
    [
      'UnauthorizedOperation',
      'You are not authorized to perform this operation. User: arn:aws:sts::1:assumed-role/a/b is not authorized to perform: ec2:CreateTags on resource: arn:aws:ec2:us-east-1:1:network-interface/* because no identity-based policy allows the ec2:CreateTags action',
      'ec2:CreateTags',
    ],
    [
      'UnauthorizedOperation',
      'You are not authorized to perform this operation. Encoded authorization failure message: YmFy',
      'ec2:CreateNetworkInterface',
    ],
    [
      'AccessDenied',
      'User: arn:aws:iam::1:user/a is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::2:role/b',
      'sts:AssumeRole',
    ],
    ['AccessDenied', 'Access denied', undefined],
    ['AuthFailure', 'AWS was not able to validate the provided access credentials', undefined],
    ['ExpiredToken', 'is not authorized to perform: ec2:CreateTags', undefined],
    ['InvalidParameterValue', 'wrong', undefined],
  ])('names by its code %s and its text "%s" the missing permission %s', (code, message, permission) => {
    const error = new CallError({ result: 'refused', code, message });

    expect(failureOf('CreateNetworkInterface', error).permission).toBe(permission);
  });
});

describe('what to do about an error of EC2', () => {
  test.each([
    ['RequestExpired', 'Request has expired.', /^set the clock/],
    ['SignatureDoesNotMatch', 'Signature expired: 20260101 is now earlier than 20260102', /^set the clock/],
    ['SignatureDoesNotMatch', 'Signature not yet current: 20260102 is still later than', /^set the clock/],
    ['InternalError', 'An internal error has occurred', /^the cloud failed inside/],
    ['Blocked', 'Your account is currently blocked', /account is blocked/],
  ])('is said for %s (%s)', (code, message, remedy) => {
    const failure = failureOf('DescribeVpcs', new CallError({ result: 'refused', code, message }));

    expect(failure.remedy).toMatch(remedy);
    expect(failure.credentials).toBe(remedy.source.includes('clock') ? 'clock' : undefined);
  });

  test.each([
    ['InternalServerException', 500, true],
    ['HTTP502', 502, false],
    ['RequestLimitExceeded', 503, false],
  ])(
    'is said for an answer %s with status %d as the inside of the cloud has it',
    (code, status, isInside) => {
      const failure = failureOf(
        'DescribeVpcs',
        new CallError({ result: 'noAnswer', code, message: '', status }),
      );

      expect(failure.remedy?.startsWith('the cloud failed inside') ?? false).toBe(isInside);
    },
  );

  test.each([
    ['Blocked', 'said so', /account is blocked/],
    ['AccountDisabled', 'said so', /account is disabled/],
    ['PendingVerification', 'said so', /verified the account/],
    ['OptInRequired', 'said so', /subscribe the account/],
    ['SubscriptionRequiredException', 'said so', /subscribe the account/],
    ['AccountProblem', 'said so', /with AWS/],
    ['AccountSuspended', 'said so', /with AWS/],
    ['AccountClosedException', 'said so', /with AWS/],
    ['UnauthorizedOperation', 'Your account is currently suspended.', /with AWS/],
    ['AccessDeniedException', 'Your AWS account has been closed.', /with AWS/],
    ['InvalidParameterValue', 'Your account is past due.', /with AWS/],
  ])('is said of the account for %s (%s), whatever the call names', (code, message, remedy) => {
    const error = new CallError({ result: 'refused', code, message });
    const { permission, ...told } = failureOf('CreateNetworkInterface', error);

    expect(told).toMatchObject({
      kind: 'notAuthorized',
      about: 'action',
      remedy: expect.stringMatching(remedy),
    });
    expect(permission).toBeUndefined();
  });

  test('is not said of the account for a limit of it', () => {
    const error = new CallError({ result: 'refused', code: 'AccountLimitExceeded', message: 'no' });

    expect(failureOf('CreateNetworkInterface', error).kind).not.toBe('notAuthorized');
  });

  const denied = 'User: arn:aws:sts::1:assumed-role/a/b is not authorized to perform: ec2:Act on resource: *';
  test.each([
    ['with an explicit deny in a service control policy', 'service control policy'],
    ['because no service control policy allows the ec2:Act action', 'service control policy'],
    ['with an explicit deny in a permissions boundary', 'permissions boundary'],
    ['with an explicit deny in an identity-based policy', 'identity-based policy'],
    ['because no identity-based policy allows the ec2:Act action', undefined],
  ])('names the policy that denies it: %s', (why, deniedBy) => {
    const message = `${denied} ${why}. Encoded authorization failure message: Zm9v-bar_`;
    const error = new CallError({ result: 'refused', code: 'UnauthorizedOperation', message });

    expect(failureOf('CreateNetworkInterface', error)).toMatchObject({
      permission: 'ec2:Act',
      message: `${denied} ${why}.`,
      encodedDenial: 'Zm9v-bar_',
      ...(deniedBy !== undefined && { deniedBy }),
    });
    expect(failureOf('CreateNetworkInterface', error).deniedBy).toBe(deniedBy);
  });
});

test('a code and a message of a megabyte, with control characters, are cut and escaped', () => {
  const long = `\u001b[31m${'x'.repeat(1_000_000)}`;

  const failure = failureOf(
    'DescribeSubnets',
    new CallError({
      code: long,
      message: long,
      status: 400,
      requestId: long,
      retryAfter: undefined,
      result: 'refused',
    }),
  );

  expect(JSON.stringify(failure).length).toBeLessThan(1500);
  expect(failure.message).toMatch(/^\\u001b\[31mx+…$/);
});

function missingPermission(resource: string): string {
  const on = resource === '' ? '' : ` on resource: arn:aws:ec2:us-east-1:123456789012:${resource}`;
  return `You are not authorized. User: arn:aws:iam::1:user/x is not authorized to perform: ec2:Act${on} because no policy allows it`;
}

describe('the scope of a refusal of EC2', () => {
  test.each([
    ['UnauthorizedOperation', 'You are not authorized to perform this operation.', undefined],
    ['UnauthorizedOperation', missingPermission(''), 'action'],
    ['UnauthorizedOperation', missingPermission('network-interface/*'), 'action'],
    ['UnauthorizedOperation', missingPermission('network-interface/eni-1'), 'interface'],
    ['UnauthorizedOperation', missingPermission('subnet/subnet-1'), 'subnet'],
    ['UnauthorizedOperation', missingPermission('security-group/sg-1'), 'securityGroups'],
    ['UnauthorizedOperation', missingPermission('instance/i-1'), 'instance'],
    ['AuthFailure', 'You do not have permission to access the specified resource.', undefined],
    ['ExpiredToken', 'expired', 'action'],
    ['Blocked', 'blocked', 'action'],
    ['NetworkInterfaceLimitExceeded', 'limit', 'action'],
    ['PrivateIpAddressLimitExceeded', 'limit', undefined],
    ['InvalidGroup.NotFound', 'no such group', 'securityGroups'],
    ['InvalidSecurityGroupID.NotFound', 'no such group', 'securityGroups'],
    ['SecurityGroupsPerInterfaceLimitExceeded', 'too many', 'securityGroups'],
    [
      'InvalidParameterValue',
      'Security group sg-1 and subnet subnet-1 belong to different networks.',
      'securityGroups',
    ],
    ['InvalidParameterValue', 'something else', undefined],
    ['InvalidParameterValue', "The subnet 'subnet-1' has no IPv6 CIDR block associated with it", 'ipv6'],
    ['PrivateIpAddressLimitExceeded', 'Number of IPv6 addresses will exceed limit.', 'ipv6'],
    ['InvalidParameterValue', "There aren't sufficient free Ipv6 addresses or prefixes", 'ipv6'],
    [
      'UnauthorizedOperation',
      'User: arn:aws:iam::1:role/r is not authorized to perform: ec2:AssignIpv6Addresses on resource: arn:aws:ec2:us-east-1:1:network-interface/*',
      'ipv6',
    ],
    ['UnsupportedOperation', 'The instance type t2.micro does not support prefixes.', 'prefixes'],
    ['SomethingNew', 'said so', undefined],
  ])('is found for %s (%s): %s', (code, message, about) => {
    const error = new CallError({ result: 'refused', code, message, requestId: 'r-1' });

    expect(failureOf('CreateNetworkInterface', error).about).toBe(about);
  });
});
