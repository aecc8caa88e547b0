import type { Collection } from './collection.ts';
import { branches, segments } from './record-types.ts';

const givenNames = ['Ada', 'Björn', 'Chiara', 'Dmitri', 'Esra', 'Fatou', 'Gwen', 'Hideo'];
const familyNames = ['Abrams', 'Bauer', 'Costa', 'Dubois', 'Eriksen', 'Fofana', 'Greco', 'Hall', 'Ito'];
const places = ['Alder', 'Birch', 'Cedar', 'Elm', 'Hazel', 'Linden', 'Maple', 'Oak', 'Rowan', 'Willow'];

/** Fills the service with `people` contacts, always the same, and one company for each ten. */
export function addPeople(people: number, contacts: Collection, companies: Collection) {
	const employers = Array.from({ length: Math.ceil(people / 10) }, (_, index) =>
		companies.create({
			legal_name: `${at(places, index)} ${index + 1} Ltd`,
			registration_number: `REG-${String(index + 1).padStart(5, '0')}`,
			headcount: 5 + ((index * 37) % 900),
			branch: at(branches, index),
			listed: index % 4 === 0,
			founded: `${1950 + (index % 70)}-03-01`,
		}),
	);
	for (let index = 0; index < people; index += 1) {
		const givenName = at(givenNames, index);
		const family = at(familyNames, Math.floor(index / givenNames.length));
		const mailbox = `${givenName}.${family}`.normalize('NFD').replace(/[^a-z.]/gi, '').toLowerCase();
		contacts.create({
			given_name: givenName,
			family_name: family,
			mail: `${mailbox}.${index + 1}@people.example`,
			birthday: `${1950 + (index % 55)}-07-${String(1 + (index % 28)).padStart(2, '0')}`,
			employer_id: employers[Math.floor(index / 10)]?.id ?? null,
			vip: index % 20 === 0,
			score: index % 101,
			segment: at(segments, index),
			joined_on: new Date(Date.UTC(2025, 0, 1 + (index % 600))).toISOString(),
		});
	}
}

function at<Item>(items: readonly Item[], index: number): Item {
	return items[index % items.length] as Item;
}
