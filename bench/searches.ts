import type { SlowActivity } from './other-client.ts';

/** Searches that find few, many and no records, with the search index and without it. */
const queries = {
	'searches words': ['q=moreno', 'q=purchasing%20ana', 'q=nobody-has-this', 'q=example'],
	'searches two letters': ['q=an', 'q=zq'],
	'filters by a custom field': ['custom_fields.contract_tier=gold', 'custom_fields.contract_tier=gold&sort=name'],
	'filters without an index': ['lead_source=referral', 'updated_since=2020-01-01T00:00:00Z&sort=name'],
};

/** A filter that was not used before, so that its total is not cached. */
export const uncachedFilter = (round: number) => `created_at[gt]=${new Date(Date.UTC(2000, 0, 1) + round).toISOString()}`;

export const searches: Record<string, SlowActivity> = Object.fromEntries(
	Object.entries(queries).map(([activity, texts]): [string, SlowActivity] => [
		activity,
		({ call }, round) => call('GET', `/v1/contacts?${texts[Math.abs(round) % texts.length]}&${uncachedFilter(round)}`),
	]),
);
