// Describes the AWS region and account for people: "eu-west-1 of account 1234".
import type { Clock } from '../../runtime/clock.ts';

/** Provides region and account; either may be unknown. */
export interface WhereaboutsSource {
  region(): Promise<string | undefined>;
  /** The account of the credentials. Rejects if it may not be read. */
  account(signal: AbortSignal): Promise<string | undefined>;
}

/** An account that is not known by then is omitted, in ms. */
const maxWait = 2000;

/** Takes 2 s at most, and never rejects. */
export async function describeWhereabouts(source: WhereaboutsSource, clock: Clock): Promise<string> {
  const giveUp = new AbortController();
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.schedule(maxWait, () => {
    giveUp.abort();
    late.resolve(undefined);
  });
  const within = (answer: Promise<string | undefined>): Promise<string | undefined> =>
    Promise.race([answer.catch(() => undefined), late.promise]);
  try {
    const [region, account] = await Promise.all([
      within(source.region()),
      within(source.account(giveUp.signal)),
    ]);
    return [region ?? 'the configured region', ...(account === undefined ? [] : [`account ${account}`])].join(
      ' of ',
    );
  } finally {
    cancel();
  }
}
