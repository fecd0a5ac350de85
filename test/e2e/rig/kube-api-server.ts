// Runs the program kube-apiserver with the flags that our tests need, with RBAC.
import { generateKeyPairSync, type KeyExportOptions, type KeyObject } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RigChild } from '../../../rig/child-process.ts';
import { certificateAuthority } from '../../../src/simulator/certificates.ts';

export interface ApiServerPlan {
  readonly directory: string;
  readonly port: number;
  readonly etcdUrl: string;
  /** Bearer tokens by user, and the group of each. */
  readonly users: readonly { readonly name: string; readonly token: string; readonly group: string }[];
  /** Flags in addition to the usual ones. */
  readonly flags: readonly string[];
}

export interface ApiServerFiles {
  readonly args: readonly string[];
  readonly caFile: string;
  /** PEM. */
  readonly ca: string;
}

/** Shared by all starts of the server: keys, certificates, users and flags. */
export async function prepareApiServer(plan: ApiServerPlan): Promise<ApiServerFiles> {
  const { directory, port, etcdUrl, users, flags } = plan;
  const authority = certificateAuthority('headwater e2e');
  const serving = authority.issue('kubernetes.default.svc');
  const signing = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const caFile = await write('ca.crt', authority.cert);
  const keyFile = (name: string, key: KeyObject, type: 'pkcs8' | 'spki'): Promise<string> =>
    write(name, key.export({ type, format: 'pem' } as KeyExportOptions<'pem'>).toString());
  const signingKey = await keyFile('service-accounts.key', signing.privateKey, 'pkcs8');
  const knownKey = await keyFile('service-accounts.pub', signing.publicKey, 'spki');
  const tokens = users.map(({ name, token, group }) => `${token},${name},${name},${group}\n`).join('');
  const args = [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${await write('serving.crt', serving.cert)}`,
    `--tls-private-key-file=${await write('serving.key', serving.key)}`,
    `--client-ca-file=${caFile}`,
    `--token-auth-file=${await write('tokens.csv', tokens)}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${signingKey}`,
    `--service-account-key-file=${knownKey}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    // These admission plugins rely on controllers that do not run here.
    '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,TaintNodesByCondition',
    '--endpoint-reconciler-type=none',
    ...flags,
  ];
  return { args, caFile, ca: authority.cert };
}

/** `program`: path of the program. */
export function startApiServer(program: string, { args }: ApiServerFiles): RigChild {
  return new RigChild({ name: 'kube-apiserver', command: program, args, bound: true });
}
