// The client of Compute Engine on its model in the same process: no socket, and therefore virtual time.
import { Readable } from 'node:stream';
import { ComputeApi } from '../../src/providers/gce/compute-api.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { GceModel } from '../../src/simulator/gce/gce-model.ts';

export function inProcessGce(model: GceModel, clock: Clock): ComputeApi {
  let token = model.token().text;
  return new ComputeApi({
    endpoint: 'http://model/compute/v1',
    metadataEndpoint: 'http://model',
    http: {
      connections: 1,
      connectionTimeout: 1000,
      clock,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
    tokens: {
      get: () => Promise.resolve(token),
      forget: () => {
        token = model.token().text;
      },
    },
    sender: {
      send: ({ url, method, headers, body }) => {
        const request = { method, url: `${url.pathname}${url.search}`, headers, body: String(body ?? '') };
        const outcome = model.answer(request);
        if (outcome.kind !== 'answer') throw new Error('the model drops no request');
        return Promise.resolve({
          statusCode: outcome.status,
          headers: outcome.headers,
          body: Readable.from([Buffer.from(outcome.body)]),
        });
      },
      close: () => undefined,
    },
  });
}
