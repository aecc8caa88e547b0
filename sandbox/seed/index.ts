import { idMaker } from '../ids.ts';
import { companies } from '../schemas/companies.ts';
import { contacts } from '../schemas/contacts.ts';
import { customFields } from '../schemas/custom-fields.ts';
import { arrangeRecord, type Resource, type StoredRecord } from '../schemas/resource.ts';
import type { Store } from '../store/store.ts';
import { companySeeds } from './companies.ts';
import { contactSeeds } from './contacts.ts';
import { customFieldSeed, customFieldSeeds } from './custom-fields.ts';
import { seedMembers } from './members.ts';
import { type Random, randomFrom } from './random.ts';

const begin = Date.parse('2023-01-02T08:00:00.000Z');
const end = Date.parse('2025-06-30T17:00:00.000Z');
const longestUntilChange = 90 * 24 * 60 * 60 * 1000;
const actor = { type: 'system', id: 'sandbox' };

/**
 * Fills an empty database: custom fields, a company for every ten contacts, and the contacts. The
 * same number gives the same data, always. A database with custom fields is not empty. The people
 * who can sign in are there in any case.
 */
export function seed(store: Store, contactCount: number): void {
	seedMembers(store);
	if (store.table(customFields.name)!.count([], true) > 0) return;
	const random = randomFrom(20_230_102);
	const companyCount = Math.ceil(contactCount / 10);
	store.transaction(() => {
		const fields = history(customFields, customFieldSeeds.length, random, customFieldSeed);
		store.table(customFields.name)!.fill(fields);
		const employers = [...history(companies, companyCount, random, companySeeds(random))];
		store.table(companies.name)!.fill(employers);
		const people = history(contacts, contactCount, random, contactSeeds(random, employers));
		store.table(contacts.name)!.fill(people);
	});
}

/** Records that came into being one after the other, evenly over the years. */
function* history(
	resource: Resource,
	count: number,
	random: Random,
	values: (i: number) => Record<string, unknown>,
): Generator<StoredRecord> {
	const newId = idMaker(random.next);
	for (let i = 0; i < count; i++) {
		const createdAt = Math.round(begin + (i * (end - begin)) / count);
		const isChanged = random.chance(0.6);
		const updatedAt = isChanged ? createdAt + random.below(longestUntilChange) : createdAt;
		yield arrangeRecord(resource, {
			...values(i),
			id: newId(resource.idPrefix, createdAt),
			object: resource.object,
			version: isChanged ? 2 + random.below(4) : 1,
			created_at: new Date(createdAt).toISOString(),
			updated_at: new Date(updatedAt).toISOString(),
			deleted_at: null,
			created_by: actor,
			updated_by: actor,
		});
	}
}
