import { describe, expect, test } from '@jest/globals';
import type { KubernetesRequest } from '../../../../../src/simulator/kubernetes/exchange.ts';
import { type Reviewed, serveReview } from '../../../../../src/simulator/kubernetes/serving/serve-reviews.ts';

const accessReviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const reader: Reviewed = {
  user: 'ann',
  authorize: ({ verb, subresource }) => verb === 'get' && subresource === '',
};

function asked(spec: object): KubernetesRequest {
  return { method: 'POST', url: '', headers: {}, body: JSON.stringify({ kind: 'X', spec }) };
}

describe('a review of what the user may do', () => {
  test.each([
    [{ verb: 'get', resource: 'pods' }, true],
    [{ verb: 'list', resource: 'pods' }, false],
    [{ verb: 'get', resource: 'pods', subresource: 'log' }, false],
  ])('is answered as a request would be: %j', (resourceAttributes, allowed) => {
    const answer = serveReview(accessReviews, asked({ resourceAttributes }), reader);

    expect(answer).toMatchObject({ status: 201, body: expect.stringContaining(`{"allowed":${allowed}}`) });
  });

  test('says who the user is', () => {
    const answer = serveReview('/apis/authentication.k8s.io/v1/selfsubjectreviews', asked({}), reader);

    expect(answer).toMatchObject({ status: 201, body: expect.stringContaining('"username":"ann"') });
  });

  test('is nothing else', () => {
    expect(serveReview('/api/v1/nodes', asked({}), reader)).toBeUndefined();
    expect(serveReview(accessReviews, { ...asked({}), method: 'GET' }, reader)).toBeUndefined();
  });
});
