// The same script against a real kube-apiserver, where one is named by the environment:
//
//   KUBE_CONFORMANCE_URL      https://127.0.0.1:6443
//   KUBE_CONFORMANCE_CA       path of the PEM that vouches for it
//   KUBE_CONFORMANCE_ADMIN    bearer token of one who may everything
//   KUBE_CONFORMANCE_READER   bearer token of the user "reader", who may nothing
//   KUBE_CONFORMANCE_FORGET   shell command that compacts the server's etcd to its current revision
//
// The server must be fit to be thrown away: the script deletes all CiliumNodes and nodes, and pods, leases and events of the
// default namespace. CustomResourceDefinition and credentials are expected to be in place.
import { exec } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { type HttpServer, sendOverHttp } from './http-target.ts';
import { runScript, type Target } from './run-script.ts';
import { script } from './script/script.ts';

const url = process.env['KUBE_CONFORMANCE_URL'];

function realTarget(serverUrl: string): Target {
  const caPath = process.env['KUBE_CONFORMANCE_CA'];
  const server: HttpServer = {
    url: serverUrl,
    ...(caPath === undefined ? {} : { ca: readFileSync(caPath, 'utf8') }),
  };
  const tokens = {
    admin: process.env['KUBE_CONFORMANCE_ADMIN'] ?? '',
    reader: process.env['KUBE_CONFORMANCE_READER'] ?? '',
    stranger: 'token-of-nobody',
  };
  return {
    send: (request) => sendOverHttp(server, request),
    tokenOf: (sender) => tokens[sender],
    pass: () => Promise.resolve(),
    expireHistory: async () => {
      await promisify(exec)(process.env['KUBE_CONFORMANCE_FORGET'] ?? 'true');
    },
  };
}

(url === undefined ? describe.skip : describe)('a real kube-apiserver', () => {
  test('answers the request script as expected', async () => {
    const outcome = await runScript(realTarget(url ?? ''), script);

    expect(outcome.failures).toEqual([]);
  });
});
