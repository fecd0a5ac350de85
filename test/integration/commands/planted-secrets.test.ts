import { describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { optionsOfCommand } from '../../../src/config/option-scope.ts';
import { environmentNameOf, optionNames } from '../../../src/config/option-table.ts';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { Child, headwater } from './child.ts';
import { announce, simulate, supplyKeys } from './simulated.ts';
import { testDirectory } from './test-directory.ts';

/** A text in every planted secret, and nowhere else. */
const mark = 'hunter2';
const encoded = Buffer.from(mark).toString('base64').slice(0, 8);
const secret = `Zq8-${mark}/K7MD+x`;

const directory = testDirectory('secrets');

/** Lines that contain a secret. */
function leaksIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) =>
    text.split('\n').filter((line) => line.includes(mark) || line.includes(encoded)),
  );
}

/** Texts with a secret that a person may give as a value by mistake. */
const forms: Readonly<Record<string, string>> = {
  'a bare secret': secret,
  'a URL with a password': `socks5://user:${secret}@host.example`,
  'a URL with a query': `https://host.example/?sig=${secret}`,
  'a URL with a password and a query': `http://user:${secret}@host.example:1/x?sig=${secret}#${secret}`,
  'a pair': `team=${secret} other`,
  'a text with control characters': `\u0007${secret}\u001b[31m`,
};

const ways: Readonly<
  Record<string, (text: string) => Promise<{ args: string[]; environment: Record<string, string> }>>
> = {
  'a flag': (text) =>
    Promise.resolve({ args: optionsOfCommand('run').map((name) => `--${name}=${text}`), environment: {} }),
  'a variable': (text) =>
    Promise.resolve({
      args: [],
      environment: Object.fromEntries(optionNames.map((name) => [environmentNameOf(name), text])),
    }),
  'a file': async (text) => {
    const place = await mkdtemp(join(directory.path, 'config-'));
    for (const name of optionNames) await writeFile(join(place, name), text);
    return { args: [`--config-dir=${place}`], environment: {} };
  },
};

const plantings = Object.keys(ways).flatMap((way) => Object.keys(forms).map((form) => ({ way, form })));

describe('a secret in the options of a start that fails', () => {
  test.each(plantings)('is not shown if each option gets it by $way: $form', async ({ way, form }) => {
    const { args, environment } = (await ways[way]?.(forms[form] ?? '')) ?? { args: [], environment: {} };

    const { code, out, err } = await headwater(['run', ...args], { environment });

    expect(code).toBe(2);
    expect(err.split('\n').length).toBeGreaterThan(30);
    expect(leaksIn([out, err])).toEqual([]);
  });

  test.each(Object.keys(forms))(
    'is not shown if it is in a proxy, a stray word or an unknown flag: %s',
    async (form) => {
      const text = forms[form] ?? '';
      const proxied = await headwater(
        ['run', '--k8s-api-server=http://127.0.0.1:1', '--aws-region=eu-west-1'],
        {
          environment: { HTTP_PROXY: `${text}\\`, HTTPS_PROXY: `${text} \\`, HEADWATER_NO_SUCH: text },
        },
      );
      const stray = await headwater(['run', text]);
      const unknown = await headwater(['run', `--no-such=${text}`, `-p${text}`, '--no-such-either', text]);
      const command = await headwater([text]);

      expect([proxied, stray, unknown, command].map(({ code }) => code)).toEqual([2, 2, 2, 2]);
      expect(leaksIn([proxied, stray, unknown, command].flatMap(({ out, err }) => [out, err]))).toEqual([]);
    },
  );
});

/** The output of a process until one of its lines matches. */
async function outputOf(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  until: RegExp,
): Promise<readonly string[]> {
  const child = new Child(
    ['run', '--aws-region=us-east-1', '--serve-addr=127.0.0.1:0', '--log-level=debug', ...args],
    { environment: { ...supplyKeys, ...environment } },
  );
  const port = child.word(/"port":(\d+).*"msg":"serving health/).catch(() => undefined);
  const said = child.said(until).catch(() => undefined);
  await Promise.race([child.ended, said]);
  const serving = await Promise.race([port, child.ended.then(() => undefined)]);
  const pages =
    serving === undefined ? [] : ['/healthz', '/readyz', '/status', '/status?node=one', '/metrics'];
  const answers = await Promise.all(
    pages.map(async (path) => (await fetch(`http://127.0.0.1:${serving}${path}`)).text()),
  );
  const { out, err } = await child.stop();
  expect(`${out}${err}`).toMatch(until);
  return [...answers, out, err];
}

interface Config {
  readonly server?: string;
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

function configText({ server = 'http://127.0.0.1:1', cluster, user = {}, context }: Config): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', ...context } }],
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'u', user }],
  });
}

const apiVersion = 'client.authentication.k8s.io/v1';
const pem = Buffer.from(`-----BEGIN CERTIFICATE-----\n${secret}\n-----END CERTIFICATE-----\n`).toString(
  'base64',
);

async function program(name: string, lines: readonly string[]): Promise<string> {
  return directory.file(name, ['#!/bin/sh', ...lines].join('\n'), 0o755);
}

/** Configurations that fail, each with secrets in it. */
const configs: Readonly<Record<string, () => Promise<Config | string>>> = {
  'a line that YAML cannot read': () => Promise.resolve(`users:\n- {token: ${secret}, "x\n  : ]${secret}`),
  'a text that is no configuration': () => Promise.resolve(secret),
  'a server with a password': () =>
    Promise.resolve({ server: `ftp://user:${secret}@127.0.0.1/?q=${secret}` }),
  'a server with a password that cannot be reached': () =>
    Promise.resolve({ server: `http://user:${secret}@127.0.0.1:1/?token=${secret}` }),
  'a proxy of another kind': () =>
    Promise.resolve({ cluster: { 'proxy-url': `socks5://user:${secret}@127.0.0.1:1/?token=${secret}` } }),
  'a proxy of another kind with a query alone': () =>
    Promise.resolve({ cluster: { 'proxy-url': `socks5://127.0.0.1:1/?token=${secret}` } }),
  'a proxy that cannot be reached': () =>
    Promise.resolve({
      server: 'https://cluster.example',
      cluster: { 'proxy-url': `http://user:${mark}@127.0.0.1:1/?sig=${secret}` },
    }),
  'a token, before a server that is not there': () => Promise.resolve({ user: { token: secret } }),
  'a token that no header can hold': () => Promise.resolve({ user: { token: `${secret}\n${secret}` } }),
  'a password': () => Promise.resolve({ user: { username: `user-${mark}`, password: secret } }),
  'names to speak for that no header can hold': () =>
    Promise.resolve({ user: { as: `${secret}\n`, 'as-uid': secret, 'as-groups': [secret] } }),
  'keys that are none': () =>
    Promise.resolve({
      server: 'https://127.0.0.1:1',
      cluster: { 'certificate-authority-data': pem },
      user: { 'client-certificate-data': pem, 'client-key-data': pem },
    }),
  'another provider': () =>
    Promise.resolve({ user: { 'auth-provider': { name: 'gcp', config: { 'access-token': secret } } } }),
  'a program with a wrong form': () =>
    Promise.resolve({ user: { exec: { apiVersion, command: 7, args: secret, env: [{ name: secret }] } } }),
  'a program that fails': async () => ({
    user: {
      exec: {
        apiVersion,
        command: await program('fails', [`echo '${secret}'`, `echo '${secret}' >&2`, 'exit 3']),
        args: ['--token', secret],
        env: [{ name: 'TOKEN', value: secret }],
        installHint: `run login --password ${secret}`,
      },
    },
  }),
  'a program that says no JSON': async () => ({
    user: { exec: { apiVersion, command: await program('babbles', [`echo 'token: ${secret}'`]) } },
  }),
  'a program that says something else': async () => ({
    user: {
      exec: {
        apiVersion,
        command: await program('differs', [`echo '{"status":{"token":["${secret}"]},"${secret}":1}'`]),
      },
    },
  }),
  'a program whose token no header can hold': async () => ({
    user: {
      exec: {
        apiVersion,
        command: await program('odd', [`echo '{"status":{"token":"${secret}\\n${secret}"}}'`]),
      },
    },
  }),
  'a program whose certificate is none': async () => ({
    server: 'https://127.0.0.1:1',
    user: {
      exec: {
        apiVersion,
        command: await program('unsigned', [
          `echo '{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":{"clientCertificateData":"${secret}","clientKeyData":"${secret}"}}'`,
        ]),
      },
    },
  }),
  'a file with a token that no header can hold': async () => ({
    user: { tokenFile: await directory.file('token', `${secret}\n${secret}`) },
  }),
  'files with keys that are none': async () => {
    const path = await directory.file('key.pem', secret);
    return {
      server: 'https://127.0.0.1:1',
      cluster: { 'certificate-authority': path },
      user: { 'client-certificate': path, 'client-key': path },
    };
  },
  'a program that is not there': () =>
    Promise.resolve({ user: { exec: { apiVersion, command: './no-such', args: [secret] } } }),
  'an OpenID Connect provider that refuses and repeats what it was sent': async () => {
    const issuer: { url: string; close: () => Promise<void> } = await loopbackServer((request, response) => {
      const { url } = issuer;
      if (request.url?.includes('well-known') === true)
        json(response, 200, { issuer: url, token_endpoint: `${url}/token` });
      else json(response, 400, { error: `invalid ${secret}`, error_description: `no ${secret}` });
    });
    directory.closeLater(issuer.close);
    return { user: oidcUser(issuer.url) };
  },
  'an OpenID Connect provider that is not there': () =>
    Promise.resolve({ user: oidcUser(`http://127.0.0.1:1/${secret}?key=${secret}`) }),
  'an OpenID Connect provider without a form': () =>
    Promise.resolve({ user: oidcUser(`not a URL ${secret}`) }),
  'a server name that the certificate does not have': async () => {
    const authority = certificateAuthority('of the cluster');
    const server = await loopbackServer(
      (_, response) => json(response, 200, {}),
      authority.issue('api.headwater.test'),
    );
    directory.closeLater(server.close);
    return {
      server: server.url,
      cluster: {
        'certificate-authority-data': Buffer.from(authority.cert).toString('base64'),
        'tls-server-name': `${mark}.example`,
      },
    };
  },
  'a server that repeats the token': async () => {
    const server = await loopbackServer((request, response) =>
      json(response, 403, {
        kind: 'Status',
        message: `forbidden: authorization: ${request.headers.authorization ?? ''}`,
      }),
    );
    directory.closeLater(server.close);
    return { server: server.url, user: { token: secret } };
  },
};

function oidcUser(issuer: string): object {
  const expired = ['{"alg":"none"}', '{"exp":1}', secret].map((part) =>
    Buffer.from(part).toString('base64url'),
  );
  return {
    'auth-provider': {
      name: 'oidc',
      config: {
        'idp-issuer-url': issuer,
        'client-id': `id-${mark}`,
        'client-secret': secret,
        'id-token': expired.join('.'),
        'refresh-token': secret,
      },
    },
  };
}

describe('a secret on the way to the cluster', () => {
  test.each(Object.keys(configs))('is not shown in the case: %s', async (name) => {
    const config = (await configs[name]?.()) ?? '';
    const text = typeof config === 'string' ? config : configText(config);
    const path = await directory.file('kubeconfig', text);

    const reported = await outputOf(
      [`--k8s-kubeconfig-path=${path}`, '--ec2-api-endpoint=http://127.0.0.1:1'],
      {},
      /cannot start|cannot (list|get|read|watch|reach)/,
    );

    expect(leaksIn(reported)).toEqual([]);
  });
});

/** Ways to EC2 that fail, each with secrets in it. */
const clouds: Readonly<
  Record<string, () => Promise<{ flags?: string[]; environment?: Record<string, string> }>>
> = {
  'keys that EC2 does not know': () =>
    Promise.resolve({ environment: { AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: secret } }),
  'keys that no header can hold': () =>
    Promise.resolve({
      environment: {
        AWS_ACCESS_KEY_ID: 'AKIA1',
        AWS_SECRET_ACCESS_KEY: secret,
        AWS_SESSION_TOKEN: `${secret}\n${secret}`,
      },
    }),
  'an endpoint of the environment with a password': () =>
    Promise.resolve({
      flags: [],
      environment: { AWS_ENDPOINT_URL_EC2: `http://user:${secret}@127.0.0.1:1/${secret}?token=${secret}` },
    }),
  'a profile whose program fails': async () => ({
    environment: {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_CONFIG_FILE: await directory.file(
        'aws-config',
        `[default]\ncredential_process = ${await program('aws-fails', [`echo '${secret}' >&2`, `echo '${secret}'`, 'exit 1'])} --key ${secret}\n`,
      ),
    },
  }),
  'a profile whose program babbles': async () => ({
    environment: {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_CONFIG_FILE: await directory.file(
        'aws-config-2',
        `[default]\ncredential_process = ${await program('aws-babbles', [`echo '{"Version":1,"SecretAccessKey":"${secret}", ${secret}'`])}\n`,
      ),
    },
  }),
  'a file of keys that is spoilt': async () => ({
    environment: {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_SHARED_CREDENTIALS_FILE: await directory.file(
        'aws-keys',
        `[default\n${secret}\naws_secret_access_key ${secret}\n`,
      ),
    },
  }),
  'a container that refuses its token': () =>
    Promise.resolve({
      environment: {
        AWS_ACCESS_KEY_ID: '',
        AWS_SECRET_ACCESS_KEY: '',
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:1/${secret}?token=${secret}`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN: secret,
      },
    }),
  'an EC2 that repeats what it was sent': async () => {
    const server = await loopbackServer((request, response) => {
      const signed = `The Canonical String should have been: ${JSON.stringify(request.headers)}`;
      response.writeHead(403, { 'content-type': 'text/xml' });
      response.end(
        `<Response><Errors><Error><Code>SignatureDoesNotMatch</Code><Message>${signed}</Message></Error></Errors><RequestID>r</RequestID></Response>`,
      );
    });
    directory.closeLater(server.close);
    return {
      flags: [`--ec2-api-endpoint=${server.url}`],
      environment: { AWS_SESSION_TOKEN: secret },
    };
  },
  'an STS that repeats the token': async () => {
    const server = await loopbackServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const asked = decodeURIComponent(Buffer.concat(parts).toString());
        response.writeHead(400, { 'content-type': 'text/xml' });
        response.end(
          `<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>no: ${asked.replaceAll('&', ' ')}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
        );
      });
    });
    directory.closeLater(server.close);
    return {
      environment: {
        AWS_ACCESS_KEY_ID: '',
        AWS_SECRET_ACCESS_KEY: '',
        AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/pod',
        AWS_WEB_IDENTITY_TOKEN_FILE: await directory.file('web-token', secret),
        AWS_ENDPOINT_URL_STS: server.url,
      },
    };
  },
  'an endpoint of STS with a password that cannot be reached': async () => ({
    environment: {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/pod',
      AWS_WEB_IDENTITY_TOKEN_FILE: await directory.file('web-token-2', secret),
      AWS_ENDPOINT_URL_STS: `http://user:${secret}@127.0.0.1:1/${secret}?token=${secret}`,
    },
  }),
  'an endpoint of the metadata service with a password': () =>
    Promise.resolve({
      environment: {
        AWS_ACCESS_KEY_ID: '',
        AWS_SECRET_ACCESS_KEY: '',
        AWS_EC2_METADATA_DISABLED: 'false',
        AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://user:${secret}@127.0.0.1:1/${secret}?token=${secret}`,
      },
    }),
  'a proxy that cannot be reached': () =>
    Promise.resolve({
      flags: ['--ec2-api-endpoint=http://ec2.headwater.test'],
      environment: {
        HTTP_PROXY: `http://user:${mark}@127.0.0.1:1`,
        NO_PROXY: `${secret}/8,http://user:${secret}@host/x,10.0.0.0/33?${mark}`,
      },
    }),
};

describe('a secret on the way to EC2', () => {
  test.each(Object.keys(clouds))('is not shown, nor in any Event or status: %s', async (name) => {
    const place = join(directory.path, 'cloud');
    await mkdir(place, { recursive: true });
    const { ec2, api, kubeconfig } = await simulate(join(place, 'small'));
    await announce(api, 'one', 'i-00000000000000001');
    const { flags = [`--ec2-api-endpoint=${ec2}`], environment = {} } = (await clouds[name]?.()) ?? {};

    const reported = await outputOf(
      [`--k8s-kubeconfig-path=${kubeconfig}`, ...flags],
      { HOME: directory.path, ...environment },
      /"msg":"cannot read the cloud"|cannot start/,
    );
    const objects = await Promise.all(
      ['/api/v1/events', '/apis/cilium.io/v2/ciliumnodes', '/apis/coordination.k8s.io/v1/leases'].map(
        async (path) => (await fetch(`${api}${path}`)).text(),
      ),
    );

    expect(leaksIn([...reported, ...objects])).toEqual([]);
  });
});
