import { describe, expect, test } from '@jest/globals';
import {
  failureCondition,
  inOneMessage,
  refusalsCondition,
} from '../../../../src/node/conditions/call-condition.ts';
import { failure } from '../outcomes.ts';

describe('the condition of a failed call', () => {
  test.each([
    ['throttled', 'Throttled', "the account's rate limit for this call is used up; Headwater retries"],
    ['limitReached', 'CallFailed', 'raise the quota, or wait until interfaces or addresses are released'],
    ['instanceNotRunning', 'InstanceNotRunning', 'the instance must be running to get interfaces'],
    ['notAuthorized', 'AccessDenied', 'check the credentials that Headwater uses'],
    ['unreachable', 'Unreachable', 'check the network path and the endpoint'],
  ] as const)('has, for the kind %s, the reason %s, and starts with a remedy', (kind, reason, remedy) => {
    const text = `${remedy}: call answers code of ${kind}: message of ${kind}`;

    expect(failureCondition(failure(kind))).toEqual({ reason, message: text });
  });

  test.each([
    ['expired', 'CredentialsExpired', /^renew Headwater's credentials, or set its clock: the cloud answers/],
    ['invalid', 'CredentialsInvalid', /^check the credentials that Headwater uses: the cloud answers/],
    ['clock', 'ClockWrong', /^set the clock of the machine that Headwater runs on.*: the cloud answers/],
  ] as const)('has, when the credentials are %s, the reason %s', (credentials, reason, text) => {
    const condition = failureCondition({ ...failure('notAuthorized'), credentials });

    expect(condition).toEqual({ reason, message: expect.stringMatching(text) as unknown });
  });

  test('names what to allow when a permission is missing', () => {
    const denied = { ...failure('notAuthorized'), permission: 'ec2:CreateTags' };

    expect(failureCondition(denied).message).toMatch(
      /^allow ec2:CreateTags to Headwater's role: call answers /,
    );
  });

  test.each(['conflict', 'invalid', 'unknown', 'interfaceGone'] as const)(
    'repeats what the cloud says when its kind is %s',
    (kind) => {
      expect(failureCondition(failure(kind)).message).toBe(
        `call answers code of ${kind}: message of ${kind}`,
      );
    },
  );
});

test.each([
  ['an identity', { credentials: 'invalid' }],
  ['an account or a region', { about: 'action' }],
] as const)('the refusal of %s has one text for all calls', (_, change) => {
  const texts = ['DescribeA', 'CreateB'].map(
    (action) => failureCondition({ ...failure('notAuthorized'), ...change, action }).message,
  );

  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toContain('the cloud answers ');
});

test.each([
  ['a permission', { about: 'action', permission: 'ec2:CreateB' }],
  ['a limit of the account', { about: 'action', kind: 'limitReached' }],
] as const)('the refusal for lack of %s names the call', (_, change) => {
  const { message } = failureCondition({ ...failure('notAuthorized'), ...change, action: 'CreateB' });

  expect(message).toContain('CreateB answers ');
});

test('a denial of several interfaces is one sentence, and another answer one of its own', () => {
  const denied = { ...failure('notAuthorized'), permission: 'ec2:Assign', message: 'no.' };
  const refused = (id: string, message: string) => ({
    scope: { kind: 'interface', interfaceId: id } as const,
    failure: { ...denied, message },
    failures: 1,
    isDue: false,
    isOfOthers: false,
  });
  const unlike = {
    ...refused('eni-3', 'no.'),
    failure: { ...failure('unknown'), message: 'why' },
  };

  const told = refusalsCondition([refused('eni-1', 'no eni-1.'), unlike, refused('eni-2', 'no eni-2.')]);

  expect(inOneMessage(told.map(({ message }) => message))).toBe(
    "for interfaces eni-1, eni-2 allow ec2:Assign to Headwater's role: call answers code of notAuthorized: no eni-1; and for interface eni-3 call answers code of unknown: why",
  );
});
