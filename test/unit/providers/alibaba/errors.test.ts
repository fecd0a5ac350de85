import { describe, expect, test } from '@jest/globals';
import { failureOf } from '../../../../src/providers/alibaba/errors.ts';
import { CallError, type CallResult } from '../../../../src/providers/gate/cloud-call.ts';

const assign = 'AssignPrivateIpAddresses';

interface Detail {
  readonly name?: string;
  readonly result?: CallResult;
}

function failure(code: string, detail: Detail = {}) {
  const { name = assign, result = 'refused' } = detail;
  return failureOf({ name }, new CallError({ result, code, message: 'text', status: 400 }));
}

describe('a refusal of Alibaba Cloud', () => {
  test.each([
    ['Throttling', {}, 'throttled'],
    ['Throttling.User', {}, 'throttled'],
    ['Throttling.Api', {}, 'throttled'],
    ['InvalidVSwitchId.IpNotEnough', {}, 'subnetExhausted'],
    ['InvalidVSwitchId.NotFound', {}, 'subnetGone'],
    ['EniPerInstanceLimitExceeded', {}, 'limitReached'],
    ['SecondaryPrivateIpAddressesLimitExceeded', {}, 'limitReached'],
    ['InvalidOperation.Ipv4CountExceeded', {}, 'limitReached'],
    ['QuotaExceeded.PrivateIpAddress', {}, 'subnetExhausted'],
    ['MaxEniCountExceeded', {}, 'limitReached'],
    ['QuotaExceed.NetworkInterface', {}, 'limitReached'],
    ['InvalidOperation.InvalidEniState', {}, 'conflict'],
    ['OperationConflict', {}, 'conflict'],
    ['Operation.Conflict', {}, 'conflict'],
    ['IdempotentProcessing', {}, 'conflict'],
    ['IdempotentParameterMismatch', {}, 'invalid'],
    ['InvalidEcsId.NotFound', {}, 'instanceGone'],
    ['InvalidInstanceId.NotFound', {}, 'instanceGone'],
    ['IncorrectInstanceStatus', {}, 'instanceNotRunning'],
    ['InvalidEniId.NotFound', {}, 'interfaceGone'],
    ['InvalidEniId.NotFound', { name: 'AttachNetworkInterface' }, 'notYetVisible'],
    ['InvalidOperation.InvalidEniType', { name: 'AttachNetworkInterface' }, 'notYetVisible'],
    ['InvalidOperation.InvalidEniType', {}, 'invalid'],
    ['IncorrectInstanceStatus.Releasing', {}, 'instanceNotRunning'],
    ['InvalidInstanceId.Released', {}, 'instanceGone'],
    ['Forbidden.InstanceNotFound', {}, 'instanceGone'],
    ['Forbidden.SubUser', {}, 'notAuthorized'],
    ['Forbidden.RegionId', {}, 'invalid'],
    ['InvalidTimeStamp.Expired', {}, 'notAuthorized'],
    ['SignatureNonceUsed', { result: 'noAnswer' as const }, 'unreachable'],
    ['InvalidIp.IpUnassigned', {}, 'notAssigned'],
    ['Forbidden.RAM', {}, 'notAuthorized'],
    ['SignatureDoesNotMatch', {}, 'notAuthorized'],
    ['CredentialsError', { result: 'notSent' as const }, 'notAuthorized'],
    ['InvalidParameter', {}, 'invalid'],
    ['MissingParameter.RegionId', {}, 'invalid'],
    ['SomethingElse', {}, 'unknown'],
    ['InternalError', { result: 'noAnswer' as const }, 'unreachable'],
    ['ECONNRESET', { result: 'noAnswer' as const }, 'unreachable'],
    ['UnreadableAnswer', { result: 'noAnswer' as const }, 'unreadable'],
  ])('with %s %j is %s', (code, detail, kind) => {
    expect(failure(code, detail).kind).toBe(kind);
  });

  test('that only a bug in Headwater can cause says so', () => {
    expect(failure('IdempotentParameterMismatch').message).toBe(
      'this is a bug in Headwater, report it: text',
    );
  });

  test.each(['SignatureDoesNotMatch', 'IncompleteSignature'])(
    'with %s says the same for every request, whatever was signed',
    (code) => {
      const message =
        'Specified signature is not matched with our calculation. server string to sign is:ACS3-HMAC-SHA256\n2ac7';
      const error = new CallError({ result: 'refused', code, message, status: 400 });

      expect(failureOf({ name: assign }, error).message).toBe(
        'Specified signature is not matched with our calculation.',
      );
    },
  );

  test.each([
    [assign, 'ecs:AssignPrivateIpAddresses'],
    ['DescribeVSwitches', 'vpc:DescribeVSwitches'],
  ])('of %s names the permission %s', (name, permission) => {
    expect(failure('Forbidden.RAM', { name })).toMatchObject({ permission });
  });

  test.each([
    ['InvalidAccessKeyId.NotFound', 'invalid'],
    ['InvalidSecurityToken.Expired', 'expired'],
    ['InvalidTimeStamp.Expired', 'clock'],
    ['IllegalTimestamp', 'clock'],
  ])('with %s says that the credentials are %s', (code, credentials) => {
    expect(failure(code)).toMatchObject({ credentials, about: 'action' });
  });

  test.each([
    ['Forbidden.SubUser', 'ecs:AssignPrivateIpAddresses'],
    ['Forbidden.NotSupportRAM', undefined],
  ])('with %s is not about the credentials, and lacks the permission %s', (code, permission) => {
    const { credentials, permission: missing } = failure(code);

    expect([credentials, missing]).toEqual([undefined, permission]);
  });

  test.each([
    [{ policy: 'ControlPolicy', isExplicit: true }, 'control policy of the resource directory'],
    [{ policy: 'ControlPolicy', isExplicit: false }, 'control policy of the resource directory'],
    [{ policy: 'SessionPolicy', isExplicit: false }, 'session policy'],
    [{ policy: 'AccountLevelIdentityBasedPolicy', isExplicit: true }, 'RAM policy'],
    [{ policy: 'AccountLevelIdentityBasedPolicy', isExplicit: false }, undefined],
    [{ policy: 'constructor', isExplicit: false }, undefined],
  ])('says of a denial which policy denies it: %j', (said, deniedBy) => {
    const denial = { permission: 'ecs:TagResources', encoded: 'AQEA', ...said };
    const error = new CallError({ result: 'refused', code: 'Forbidden.RAM', message: 'no', denial });

    expect(failureOf({ name: 'CreateNetworkInterface' }, error)).toMatchObject({
      permission: 'ecs:TagResources',
      encodedDenial: 'AQEA',
      ...(deniedBy !== undefined && { deniedBy }),
    });
    expect(failureOf({ name: 'CreateNetworkInterface' }, error).deniedBy).toBe(deniedBy);
  });

  test('names the permission of the call where the answer names none that can be one', () => {
    const denial = { permission: 'all of them', policy: undefined, isExplicit: false, encoded: undefined };
    const error = new CallError({ result: 'refused', code: 'Forbidden.RAM', message: 'no', denial });

    const { permission, encodedDenial } = failureOf({ name: 'DescribeVSwitches' }, error);

    expect([permission, encodedDenial]).toEqual(['vpc:DescribeVSwitches', undefined]);
  });

  test.each([
    ['InvalidTimeStamp.Expired', /^set the clock/],
    ['IllegalTimestamp', /^set the clock/],
    ['InternalError', /^the cloud failed inside/],
    ['SignatureNonceUsed', /sends requests of Headwater twice/],
    ['InvalidAccountStatus.NotEnoughBalance', /balance/],
  ])('with %s says what to do', (code, remedy) => {
    expect(failure(code).remedy).toMatch(remedy);
  });

  test.each([
    ['Account.Arrearage', 'text', /balance/],
    ['Account.ArrearageDisable', 'text', /balance/],
    ['InvalidAccountStatus.NotEnoughBalance', 'text', /balance/],
    ['InvalidAccountStatus.Overdue', 'text', /balance/],
    ['AccountMoneyValidateError', 'text', /balance/],
    ['PAY.INSUFFICIENT_BALANCE', 'text', /balance/],
    ['ACCOUNT_BALANCE_EXCEEDED', 'text', /balance/],
    ['Forbidden.AccountClosed', 'text', /account is closed/],
    ['UserDisable', 'text', /account is disabled/],
    ['InvalidAccountStatus.SecurityRisk', 'text', /with Alibaba Cloud/],
    ['Forbidden.AccountLocked', 'text', /with Alibaba Cloud/],
    ['Account.Closed', 'text', /with Alibaba Cloud/],
    ['AccountAliyunAccountFrozen', 'text', /with Alibaba Cloud/],
    ['Forbidden', 'Your account has an outstanding payment.', /balance/],
    ['Forbidden.VSwitch', 'Your account is suspended.', /with Alibaba Cloud/],
  ])('with %s (%s) is about the account, whatever the call names', (code, message, remedy) => {
    const error = new CallError({ result: 'refused', code, message });
    const { permission, ...told } = failureOf({ name: 'CreateNetworkInterface' }, error);

    expect(told).toMatchObject({
      kind: 'notAuthorized',
      about: 'action',
      remedy: expect.stringMatching(remedy),
    });
    expect(permission).toBeUndefined();
  });

  test.each(['InvalidVSwitchId.Account', 'AccountLimitExceeded', 'InvalidParameter.Account'])(
    'with %s is not about the state of the account',
    (code) => {
      expect(failure(code).kind).not.toBe('notAuthorized');
    },
  );

  test.each([
    ['MaxEniCountExceeded', 'CreateNetworkInterface', 'action'],
    ['MaxEniCountExceeded', 'AttachNetworkInterface', undefined],
    ['QuotaExceed.NetworkInterface', 'CreateNetworkInterface', 'action'],
    ['QuotaExceeded.PrivateIpAddress', assign, undefined],
    ['QuotaExceeded.PrivateIpAddress', 'CreateNetworkInterface', undefined],
    ['SecurityGroupInstanceLimitExceed', 'CreateNetworkInterface', 'securityGroups'],
    ['InvalidSecurityGroupId.VpcMismatch', 'CreateNetworkInterface', 'securityGroups'],
    ['InvalidOperation.EniServiceManaged', assign, 'interface'],
    ['InvalidOperation.InvalidEniType', assign, 'interface'],
    ['InvalidOperation.InvalidEniType', 'AttachNetworkInterface', undefined],
    ['InvalidAccountStatus.NotEnoughBalance', 'CreateNetworkInterface', 'action'],
  ])('with %s to %s concerns: %s', (code, name, about) => {
    expect(failure(code, { name }).about).toBe(about);
  });

  test.each([
    ['is Stopped while current status is Running', 'invalid', 'instance'],
    ['is "Stopped" while current status is "Running"', 'invalid', 'instance'],
    ['is "Running,Stopped" while current status is "Starting"', 'instanceNotRunning', undefined],
  ])('of an attachment says whether the type takes interfaces while it runs: %s', (status, kind, about) => {
    const message = `The operation is not allowed in the current ECS state. Expecting status ${status}.`;
    const error = new CallError({ result: 'refused', code: 'InvalidOperation.InvalidEcsState', message });
    const found = failureOf({ name: 'AttachNetworkInterface' }, error);

    expect([found.kind, found.about]).toEqual([kind, about]);
  });
});
