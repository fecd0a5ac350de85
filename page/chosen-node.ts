// The node that the address of the page names: `#node=NAME`. Links to it can be kept and sent.

export function chosenNode(): string | undefined {
  const name = new URLSearchParams(location.hash.slice(1)).get('node')?.trim();
  return name === undefined || name === '' ? undefined : name;
}

export function addressOf(node: string): string {
  return `#node=${encodeURIComponent(node)}`;
}
