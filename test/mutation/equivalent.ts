/** Mutations without a visible effect, as `npm run mutate` prints them, each with its reason. */
export const equivalent: ReadonlyMap<string, string> = new Map<string, string>([]);
