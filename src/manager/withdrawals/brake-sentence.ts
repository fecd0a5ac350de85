// Explains why withdrawals are held, in one sentence that a user can act on.
import type { BrakeState } from './withdrawal-brake.ts';

/** Maximum number of networks named. */
const maxNetworks = 3;

const question = 'is this the right region and role?';

/** `scope`: where the cloud is queried, in its own terms: region and account. `networkIds`: those of the nodes. */
export function sentenceOf(
  state: Exclude<BrakeState, { kind: 'open' }>,
  scope: string,
  networkIds: readonly string[],
): string {
  const where = placeOf(networkIds);
  switch (state.kind) {
    case 'misdirected': {
      const { missing, of } = state;
      const which =
        missing === of ? `none of the ${count(of)}` : `only ${count(of - missing)} of the ${count(of)}`;
      const verb = missing === of || of - missing === 1 ? 'is' : 'are';
      return `${which} instances${where} ${verb} in ${scope}: ${question} Nothing is taken away until most of them are found`;
    }
    case 'held': {
      const { instanceIds, recent, users, token } = state;
      const before = recent === 0 ? '' : `, and of ${nodes(recent)} in the 10 minutes before,`;
      const what = `interfaces or addresses of ${nodes(instanceIds.size)}${where}${before}`;
      return `${what} are missing in ${scope}, where ${count(users)} use addresses: ${question} Nothing is taken away until they are shown again; if they are gone for good, approve that with --allow-withdrawals=${token}`;
    }
    case 'inherited':
      return `nothing is taken away before this process has read ${scope} twice, because the previous leader held withdrawals: ${state.note.sentence}`;
  }
}

function placeOf(networkIds: readonly string[]): string {
  if (networkIds.length === 0) return '';
  const more = networkIds.length - maxNetworks;
  const named = networkIds.slice(0, maxNetworks).join(', ');
  return ` of ${named}${more > 0 ? ` and ${count(more)} more` : ''}`;
}

function nodes(number: number): string {
  return number === 1 ? '1 node' : `${count(number)} nodes`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
