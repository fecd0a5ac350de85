import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type KubernetesServer,
  startKubernetesServer,
} from '../../../src/simulator/kubernetes/kubernetes-server.ts';
import { sendOverHttp } from './http-target.ts';
import { modelInTime, modelTarget, sendInProcess } from './model-target.ts';
import { runScript } from './run-script.ts';
import { script } from './script/script.ts';

describe('the embedded model that answers the request script as a kube-apiserver does', () => {
  test('answers it in process', async () => {
    const inTime = modelInTime();

    const outcome = await runScript(
      modelTarget(inTime, (request) => sendInProcess(inTime.model, request)),
      script,
    );

    expect(outcome.failures).toEqual([]);
    expect(outcome.requests).toBeGreaterThan(200);
  });

  test('has the same history after the same script', async () => {
    const histories = await Promise.all(
      [0, 1].map(async () => {
        const inTime = modelInTime();
        const answers: string[] = [];
        const target = modelTarget(inTime, async (request) => {
          const answer = await sendInProcess(inTime.model, request);
          void answer.text().then((text) => answers.push(`${answer.status} ${text}`));
          return answer;
        });
        await runScript(target, script);
        return answers.join('\n');
      }),
    );

    expect(histories[0]).toBe(histories[1]);
  });
});

describe('the embedded model behind its own server', () => {
  const inTime = modelInTime();
  let server: KubernetesServer;

  beforeAll(async () => {
    server = await startKubernetesServer({ ...inTime, port: 0 });
  });

  afterAll(async () => {
    await server.close();
  });

  test('answers the request script over HTTP', async () => {
    const outcome = await runScript(
      modelTarget(inTime, (request) => sendOverHttp({ url: server.url }, request)),
      script,
    );

    expect(outcome.failures).toEqual([]);
  });
});
