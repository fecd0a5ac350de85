// CiliumNodes of a hostile agent: they have no Node, and what they show does not count.

export const fakePrefix = 'a-fake-';

export function isFake(name: string): boolean {
  return name.startsWith(fakePrefix);
}
