/** Mutations without a visible effect, by file, as `npm run mutate` prints them after the line number. */
export const equivalent: Readonly<Record<string, ReadonlySet<string>>> = {};
