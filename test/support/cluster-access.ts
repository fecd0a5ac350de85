// Access to an API server of a test, which asks for no credentials unless the test gives them.
import type {
  ClusterAccess,
  Credentials,
  TlsMaterial,
} from '../../src/kubernetes/transport/cluster-access.ts';

export const noTls: TlsMaterial = {
  ca: undefined,
  cert: undefined,
  key: undefined,
  serverName: undefined,
  insecure: false,
};

export function accessTo(url: string, credentials: Partial<Credentials> = {}): ClusterAccess {
  const whole: Credentials = { headers: {}, tls: noTls, ...credentials };
  return {
    server: new URL(url),
    source: 'a test',
    namespace: undefined,
    proxy: undefined,
    credentials: () => Promise.resolve(whole),
    forget: () => undefined,
  };
}
