import { describe, expect, test } from '@jest/globals';
import {
  accessFindings,
  missingFields,
  schemaFinding,
  versionFinding,
} from '../../../../src/commands/check/cluster-findings.ts';
import { known, unknown } from '../../../../src/commands/check/fact.ts';
import type { ReviewedAccess } from '../../../../src/kubernetes/access/access-review.ts';

const ann = known('ann');

function reviewed(...verdicts: readonly ReviewedAccess['verdict'][]): readonly ReviewedAccess[] {
  return verdicts.map((verdict, index) => ({
    access: { verb: 'patch', group: '', resource: `things${index}`, without: 'nothing works' },
    verdict,
  }));
}

describe('the row of the API server', () => {
  test('says its version, and why it does not answer', () => {
    expect(versionFinding('https://api', known('v1.33.1'))).toEqual({
      what: 'API server',
      found: 'https://api answers, version v1.33.1',
      verdict: 'ok',
    });
    expect(versionFinding('', unknown('cannot reach https://api: timeout'))).toMatchObject({
      verdict: 'unknown',
      found: 'cannot reach https://api: timeout',
      remedy: 'check the kubeconfig, and the network path to the API server',
    });
  });
});

describe('rows of permissions in Kubernetes', () => {
  test.each<[string, readonly ReviewedAccess[], readonly (readonly [string, RegExp])[]]>([
    ['all are granted', reviewed('allowed', 'allowed'), [['ok', /^all 2 of ann are granted$/]]],
    ['none is bound', reviewed('denied', 'denied'), [['problem', /^all 2 of ann are missing$/]]],
    [
      'one is missing',
      reviewed('allowed', 'denied'),
      [['problem', /^may not patch things1 of ann: nothing works$/]],
    ],
    [
      'no answer',
      reviewed('allowed', 'unanswered'),
      [['unknown', /does not say whether 1 of 2 of ann are granted$/]],
    ],
    [
      'one is missing and one has no answer',
      reviewed('allowed', 'denied', 'unanswered'),
      [
        ['problem', /^may not patch things1/],
        ['unknown', /1 of 3/],
      ],
    ],
  ])('say which are missing, and what fails without: %s', (_, access, rows) => {
    const findings = accessFindings(access, ann);

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(
      rows.map(([verdict, found]) => [verdict, expect.stringMatching(found)]),
    );
  });
});

describe('the row of the definition', () => {
  test.each([
    ['it has all', { kind: 'served' }, [], 'ok', /^it has the fields/],
    ['a field is missing', { kind: 'served' }, ['status.eni'], 'problem', /^it lacks status\.eni:/],
    [
      'it is not there',
      { kind: 'assumed', reason: 'the cluster has no definition', mayPass: false },
      [],
      'problem',
      /^the cluster has no definition$/,
    ],
    ['no answer', { kind: 'assumed', reason: 'timeout', mayPass: true }, [], 'unknown', /^timeout$/],
  ] as const)('is judged by its fields: %s', (_, source, missing, verdict, found) => {
    expect(schemaFinding(source, missing)).toMatchObject({ verdict, found: expect.stringMatching(found) });
  });

  test('names the fields that agents of the cloud read', () => {
    const knows = (path: readonly string[]): boolean => path.join('.') !== 'status.eni';

    expect(missingFields({ knows }, 'eni')).toEqual(['status.eni']);
    expect(missingFields({ knows }, 'azure')).toEqual([]);
  });
});
