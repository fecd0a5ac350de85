// The note with which a leader that holds withdrawals informs its successor. Only Headwater writes it, but a user may
// have edited it: an unreadable note still means that withdrawals were held.

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
  const fields = fieldsOf(text);
  const since = Date.parse(textOf(fields['since']));
  const nodes = fields['nodes'];
  return {
    since: Number.isNaN(since) ? undefined : since,
    token: textOf(fields['token']),
    nodes: typeof nodes === 'number' && Number.isSafeInteger(nodes) && nodes >= 0 ? nodes : 0,
    sentence: textOf(fields['sentence']).slice(0, maxSentenceCharacters) || 'its reason cannot be read',
  };
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
