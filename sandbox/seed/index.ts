import { companies } from '../schemas/companies.ts';
import { contacts } from '../schemas/contacts.ts';
import { customFields } from '../schemas/custom-fields.ts';
import { tags } from '../schemas/tags.ts';
import { users } from '../schemas/users.ts';
import type { Store } from '../store/store.ts';
import { companySeeds } from './companies.ts';
import { contactSeeds } from './contacts.ts';
import { customFieldSeed, customFieldSeeds } from './custom-fields.ts';
import { history } from './history.ts';
import { keeping } from './keeping.ts';
import { randomFrom } from './random.ts';
import { tagCount, tagSeed } from './tags.ts';
import { userCount, userSeed } from './users.ts';

/**
 * Fills an empty database: the team, tags and custom fields, a company for every ten contacts, and
 * the contacts. The same number gives the same data, always. A database with custom fields is not
 * empty.
 */
export function seed(store: Store, contactCount: number): void {
	if (store.table(customFields.name)!.count([], true) > 0) return;
	const random = randomFrom(20_230_102);
	const companyCount = Math.ceil(contactCount / 10);
	store.transaction(() => {
		const fields = history(customFields, customFieldSeeds.length, random, customFieldSeed);
		store.table(customFields.name)!.fill(fields);
		const team = [...history(users, userCount, randomFrom(2), userSeed)];
		store.table(users.name)!.fill(team);
		const labels = [...history(tags, tagCount, randomFrom(3), tagSeed)];
		const { keep, usage } = keeping(randomFrom(4), team, labels);

		const employers = [...keep(history(companies, companyCount, random, companySeeds(random)))];
		store.table(companies.name)!.fill(employers);
		const people = history(contacts, contactCount, random, contactSeeds(random, employers));
		store.table(contacts.name)!.fill(keep(people));
		store.table(tags.name)!.fill(labels.map((tag) => ({ ...tag, usage: usage(tag) })));
	});
}
