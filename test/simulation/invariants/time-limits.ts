// How long a controller may take until what it knows, or has changed, agrees with the cluster.

/** Time limit to repair an external change, in ms. */
export const repairTime = 300_000;
/** Maximum time from a new use until every controller knows, in ms: agents write every 15 s, and watches lag. */
export const useReportedWithin = 180_000;

/** Maximum time from the start of a read until its answer is applied, in ms. */
export const maxRead = 40_000;
