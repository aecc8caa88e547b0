import { idMaker } from '../foundation/ids.ts';
import { exampleId } from '../schemas/request-examples.ts';
import { arrangeRecord, type Resource, type StoredRecord } from '../schemas/resource.ts';
import type { Random } from './random.ts';

export const seedStart = Date.parse('2023-01-02T08:00:00.000Z');
export const seedEnd = Date.parse('2025-06-30T17:00:00.000Z');
const longestUntilChange = 90 * 24 * 60 * 60 * 1000;
const actor = { type: 'system', id: 'sandbox' };

/** When a record was created and last changed; equal if it never changed. */
export interface Times {
	createdAt: string;
	updatedAt: string;
}

/**
 * Creates records with creation times spread evenly over the years; values may contain an id. The last
 * record gets the id that is used in examples.
 */
export function* history(
	resource: Resource,
	count: number,
	random: Random,
	values: (i: number, times: Times) => Record<string, unknown>,
): Generator<StoredRecord> {
	const newId = idMaker(random.next);
	for (let i = 0; i < count; i++) {
		const createdAt = Math.round(seedStart + (i * (seedEnd - seedStart)) / count);
		const id = newId(resource.idPrefix, createdAt);
		const isChanged = random.chance(0.6);
		const updatedAt = isChanged ? createdAt + random.below(longestUntilChange) : createdAt;
		const times = {
			createdAt: new Date(createdAt).toISOString(),
			updatedAt: new Date(updatedAt).toISOString(),
		};
		yield arrangeRecord(resource, {
			id: i === count - 1 ? exampleId(resource.idPrefix) : id,
			...values(i, times),
			object: resource.object,
			version: isChanged ? 2 + random.below(4) : 1,
			created_at: times.createdAt,
			updated_at: times.updatedAt,
			deleted_at: null,
			created_by: actor,
			updated_by: actor,
		});
	}
}

export const daysAfter = (instant: string, days: number): string =>
	new Date(Date.parse(instant) + days * 24 * 60 * 60 * 1000).toISOString();
