import { idMaker } from '../core/foundation/ids.ts';
import { exampleId } from '../core/schemas/request-examples.ts';
import { arrangeRecord, type Resource, type StoredRecord } from '../core/schemas/resource.ts';
import { type Random, randomFrom } from './random.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Two and a half years. */
const historyMs = 912 * dayMs;
const maxUntilChange = 90 * dayMs;
/** Some of the records changed within these last days, so that "this week" finds some. */
const recentMs = 7 * dayMs;
const recentShare = 0.15;
const actor = { type: 'system', id: 'sandbox' };

/** When a record was created and last changed; equal if it never changed. */
export interface Times {
	createdAt: string;
	updatedAt: string;
}

/**
 * Creates records with creation times spread evenly over the years before an instant; values may contain
 * an id. The last record gets the id that is used in examples.
 *
 * @param end Unix epoch milliseconds; nothing was created or changed later
 */
export function* history(
	resource: Resource,
	count: number,
	end: number,
	random: Random,
	values: (i: number, times: Times) => Record<string, unknown>,
): Generator<StoredRecord> {
	const newId = idMaker(random.next);
	const start = end - historyMs;
	const recent = randomFrom(count);
	for (let i = 0; i < count; i++) {
		const createdAt = Math.round(start + (i * historyMs) / count);
		const id = newId(resource.idPrefix, createdAt);
		const isChanged = random.chance(0.6);
		const later = createdAt + (isChanged ? random.below(Math.min(maxUntilChange, end - createdAt)) : 0);
		const updatedAt = recent.chance(recentShare) ? Math.max(createdAt, end - 1 - recent.below(recentMs)) : later;
		const times = { createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(updatedAt).toISOString() };
		yield arrangeRecord(resource, {
			id: i === count - 1 ? exampleId(resource.idPrefix) : id,
			...values(i, times),
			object: resource.object,
			version: isChanged || updatedAt > createdAt ? 2 + Math.floor(4 * random.next()) : 1,
			created_at: times.createdAt,
			updated_at: times.updatedAt,
			deleted_at: null,
			created_by: actor,
			updated_by: actor,
		});
	}
}

export const daysAfter = (instant: string | number, days: number): string =>
	new Date(new Date(instant).getTime() + days * dayMs).toISOString();

/** The date some days after an instant, as `YYYY-MM-DD`. */
export const dateAfter = (instant: string | number, days: number): string => daysAfter(instant, days).slice(0, 10);
