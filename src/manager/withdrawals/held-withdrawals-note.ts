// The note with which a leader that holds withdrawals informs its successor. Only Headwater writes it, but a user may
// have edited it: an unreadable note still means that withdrawals were held.
import { objectIn, textAt, valueAt } from '../../runtime/json.ts';

export interface HeldWithdrawalsNote {
  /** When they were first held, in ms since the epoch; undefined if unreadable. */
  readonly since: number | undefined;
  readonly token: string;
  /** Number of nodes with something missing. */
  readonly nodes: number;
  readonly sentence: string;
}

/** The API server limits the total annotations of an object; ours stays far below. */
const maxSentenceCharacters = 1000;

export function noteText({ since, token, nodes, sentence }: HeldWithdrawalsNote): string {
  const at = since === undefined ? undefined : new Date(since).toISOString();
  return JSON.stringify({ since: at, token, nodes, sentence: sentence.slice(0, maxSentenceCharacters) });
}

export function readNote(text: string): HeldWithdrawalsNote {
  const fields = objectIn(text);
  const since = Date.parse(textAt(fields, 'since') ?? '');
  const nodes = valueAt(fields, 'nodes');
  return {
    since: Number.isNaN(since) ? undefined : since,
    token: textAt(fields, 'token') ?? '',
    nodes: typeof nodes === 'number' && Number.isSafeInteger(nodes) && nodes >= 0 ? nodes : 0,
    sentence: textAt(fields, 'sentence')?.slice(0, maxSentenceCharacters) || 'its reason cannot be read',
  };
}
