/** Changes that change nothing anybody can see, each with its reason: as `npm run mutate` prints them. */
export const equivalent: ReadonlyMap<string, string> = new Map<string, string>([]);
