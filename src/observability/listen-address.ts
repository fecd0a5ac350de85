// Parses and formats a listen address: host and port in one text.

export interface ListenAddress {
  /** A name or an address; undefined means all addresses of the machine. */
  readonly host: string | undefined;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Parses `:9966`, `127.0.0.1:9966`, `localhost:9966` or `[::1]:9966`; undefined otherwise. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[(?<bracketed>[\da-fA-F:.]+)\]|(?<plain>[\w.-]*)):(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.['port']);
  if (match === null || port > 65_535) return undefined;
  const host = match.groups?.['bracketed'] ?? match.groups?.['plain'];
  return { host: host === '' ? undefined : host, port };
}

/** The inverse of `parseListenAddress`. */
export function formatListenAddress({ host = '', port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
