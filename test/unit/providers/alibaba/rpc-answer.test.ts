import { describe, expect, test } from '@jest/globals';
import { jsonIn, UnreadableAnswer } from '../../../../src/network/bounded-body.ts';
import { understood } from '../../../../src/providers/alibaba/rpc-answer.ts';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';

function reading(status: number, content: string): () => unknown {
  return () => understood({ statusCode: status, headers: {} }, jsonIn(content));
}

describe('an answer with status 200', () => {
  test('is read if it has a request id', () => {
    expect(reading(200, '{"RequestId":"r-1","NextToken":""}')()).toEqual({
      RequestId: 'r-1',
      NextToken: '',
    });
  });

  test.each([
    ['is no JSON', '<html>', 'the answer is no JSON object'],
    ['is a list', '["RequestId"]', 'the answer is no JSON object'],
    ['is null', 'null', 'the answer is no JSON object'],
    ['is empty', '{}', 'the answer has no RequestId'],
    ['has a request id that is none', '{"RequestId":5}', 'the answer has no RequestId'],
    [
      'has an error code',
      '{"RequestId":"r-1","Code":"OperationConflict","Message":"busy"}',
      'the answer has status 200 and the error OperationConflict',
    ],
  ])('that %s proves nothing', (_, content, problem) => {
    expect(reading(200, content)).toThrow(new UnreadableAnswer(problem));
  });
});

describe('a refusal', () => {
  test.each([
    ['{"Code":"Throttling.User","Message":"slow"}', 400, 'Throttling.User', 'refused'],
    ['{"Code":"Throttling","Message":"slow"}', 503, 'Throttling', 'refused'],
    ['{"Code":"InternalError","Message":"oh"}', 500, 'InternalError', 'noAnswer'],
    ['{"Code":"SignatureNonceUsed","Message":"again"}', 400, 'SignatureNonceUsed', 'noAnswer'],
    ['<html>', 404, 'HTTP404', 'refused'],
    ['[1]', 502, 'HTTP502', 'noAnswer'],
    ['{"Code":["a"]}', 403, 'HTTP403', 'refused'],
    ['null', 302, 'HTTP302', 'refused'],
  ])('%s with status %d is %s: %s', (content, status, code, result) => {
    const found = ((): unknown => {
      try {
        return reading(status, content)();
      } catch (error) {
        return error;
      }
    })();

    expect(found).toBeInstanceOf(CallError);
    expect(found).toMatchObject({ code, result });
  });

  test.each([
    [
      { AuthAction: 'ecs:DescribeInstances', PolicyType: 'ControlPolicy', NoPermissionType: 'ExplicitDeny' },
      { permission: 'ecs:DescribeInstances', policy: 'ControlPolicy', isExplicit: true, encoded: undefined },
    ],
    [
      { EncodedDiagnosticMessage: 'AQEA', NoPermissionType: 'ImplicitDeny', AuthAction: '', PolicyType: 5 },
      { permission: undefined, policy: undefined, isExplicit: false, encoded: 'AQEA' },
    ],
    ['text', undefined],
    [null, undefined],
  ])('of RAM carries what it says of the denial: %j', (AccessDeniedDetail, denial) => {
    const body = JSON.stringify({ Code: 'Forbidden.RAM', Message: 'no', AccessDeniedDetail });

    expect(reading(403, body)).toThrow(expect.objectContaining({ code: 'Forbidden.RAM', denial }));
  });
});
