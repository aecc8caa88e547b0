import * as fc from 'fast-check';
import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { run } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const store = useBinaryStore();

/** How another system could call the columns, in several languages. */
const headers: Record<string, Record<string, string[]>> = {
	companies: {
		external_id: ['Record ID', 'Company ID', 'Id', 'Datensatz-ID'],
		name: ['Company name', 'Account Name', 'Firma', 'Nombre de la empresa'],
		employee_count: ['Employees', 'Number of Employees', 'Mitarbeiter'],
		annual_revenue: ['Annual Revenue', 'Umsatz', 'Ingresos anuales'],
		currency: ['Currency', 'Währung'],
		parent_company_id: ['ParentId', 'Parent Account ID', 'Parent Company > Record ID'],
	},
	contacts: {
		external_id: ['Record ID', 'ContactId', 'id'],
		first_name: ['First Name', 'Vorname', 'Nombre', 'Person - First name'],
		last_name: ['Surname', 'Nachname', 'Apellidos', 'Last_Name'],
		email: ['E-mail 1 - Value', 'Correo electrónico', 'Email Address', 'Emails'],
		'address.city': ['Mailing City', 'Ort', 'Address 1: City', 'Ciudad'],
		company_id: ['AccountId', 'Company ID', 'Account Name.id'],
	},
	deals: {
		external_id: ['Deal ID', 'Opportunity ID', 'Id'],
		title: ['Deal Name', 'Opportunity Name', 'Topic'],
		amount: ['Amount', 'Betrag', 'Deal - Value'],
		currency: ['Currency', 'Deal - Currency'],
		expected_close_date: ['Close Date', 'Est. Close Date', 'Fecha de cierre'],
		company_id: ['AccountId', 'Company ID'],
		contact_ids: ['Associated Contact IDs', 'Contact IDs'],
		tag_ids: ['Tags', 'Labels', 'Tag List'],
	},
};

const text = fc.stringMatching(/^[A-ZÄÉßÑ][\w äöü;,|"'.]{0,20}[a-z]$/);
/** The place of a company or contact in its list. */
const place = fc.nat(3);
const four = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { minLength: 4, maxLength: 4 });
const anyAccount = fc.record({
	companies: four(fc.record({ name: text, employee_count: fc.nat(99_999), annual_revenue: fc.nat(999_999_999), parent: place })),
	contacts: four(fc.record({ first_name: text, last_name: text, city: text, company: place })),
	deals: fc.array(
		fc.record({
			title: text,
			cents: fc.nat(99_999_999),
			day: fc.nat(9_000).map((day) => new Date(Date.UTC(2010, 0, 1 + day)).toISOString().slice(0, 10)),
			company: place,
			contacts: fc.uniqueArray(place, { minLength: 1 }),
			tags: fc.subarray(['Gold', 'Silver', 'Key Account']),
		}),
		{ maxLength: 4 },
	),
});
const anyNotation = fc.record({
	dates: fc.constantFrom('api', 'dayMonth', 'monthDay', 'excel'),
	numbers: fc.constantFrom('api', 'point', 'comma'),
	lists: fc.constantFrom('semicolon', 'pipe', 'line', 'colons'),
});
const separators = { semicolon: ';', pipe: '|', line: '\n', colons: ' ::: ' };

function dateIn(notation: string, day: string): string {
	const [year, month, dayOfMonth] = day.split('-');
	if (notation === 'dayMonth') return `${dayOfMonth}.${month}.${year}`;
	if (notation === 'monthDay') return `${month}/${dayOfMonth}/${year}`;
	return notation === 'excel' ? String(25_569 + Date.parse(day) / 86_400_000) : day;
}

function numberIn(notation: string, value: number): string {
	if (notation === 'api') return String(value);
	const written = value.toLocaleString('en-US', { maximumFractionDigits: 2 });
	return notation === 'point' ? `$${written}` : `${written.replace(/[.,]/g, (mark) => (mark === ',' ? '.' : ','))} €`;
}

const id = (kind: string, i: number) => `${kind}${i + 1}`;

test('any account comes from files of any column order, language and notation, field by field', async () => {
	let count = 0;
	const property = async (
		{ companies, contacts, deals }: ReturnType<typeof anyAccount.generate>['value'],
		notation: ReturnType<typeof anyNotation.generate>['value'],
		delimiter: string,
		seed: number,
	) => {
		const source = `any-${++count}`;
		const separator = separators[notation.lists];
		const currency = notation.numbers === 'point' ? 'USD' : 'EUR';
		const rows: Record<string, IDataObject[]> = {
			companies: companies.map(({ name, parent, ...company }, i) => ({
				external_id: id('a', i),
				name: `${name} ${i}`,
				employee_count: company.employee_count,
				annual_revenue: numberIn(notation.numbers, company.annual_revenue),
				currency,
				parent_company_id: parent === i ? '' : id('a', parent),
			})),
			contacts: contacts.map(({ city, company, ...contact }, i) => ({
				...contact,
				external_id: id('c', i),
				email: `${source}-${i}@any.example`,
				'address.city': city,
				company_id: id('a', company),
			})),
			deals: deals.map(({ title, cents, day, ...deal }, i) => ({
				external_id: id('d', i),
				title,
				amount: numberIn(notation.numbers, cents / 100),
				currency,
				expected_close_date: dateIn(notation.dates, day),
				company_id: id('a', deal.company),
				contact_ids: deal.contacts.map((contact) => id('c', contact)).join(separator),
				tag_ids: deal.tags.join(separator),
			})),
		};
		let state = seed;
		const pick = (length: number) => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % length;
		const line = (cells: unknown[]) => cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(delimiter);
		const files: IBinaryKeyData = {};
		for (const [kind, values] of Object.entries(rows).filter(([, { length }]) => length > 0)) {
			const columns = Object.entries(headers[kind]!).sort(() => pick(2) - 0.5);
			const header = columns.map(([, names]) => names[pick(names.length)]);
			const csv = [header, ...values.map((row) => columns.map(([field]) => row[field]))].map(line).join('\n');
			files[kind] = await store.put(csv, `${kind}.csv`);
		}
		const options = { createMissing: ['tags'], valuesIn: { notation } };
		const parameters = { resource: 'file', operation: 'moveIn', sourceName: source, preview: false, options };
		const { items, hints } = await run({ credential: sandbox.credential, parameters, files });
		expect([items.flatMap(({ json }) => json.reasons ?? []), hints]).toEqual([[], []]);

		const written = async (kind: string) => {
			const records = await sandbox.list<IDataObject>(`${kind}?external_id[starts_with]=${source}:`);
			return records.sort((a, b) => String(a.external_id).localeCompare(String(b.external_id)));
		};
		const [ofCompanies, ofContacts, ofDeals] = [await written('companies'), await written('contacts'), await written('deals')];
		expect(ofCompanies).toMatchObject(
			companies.map(({ parent, name, ...company }, i) => {
				return { ...company, name: `${name} ${i}`, parent_company_id: parent === i ? null : ofCompanies[parent]!.id };
			}),
		);
		expect(ofContacts).toMatchObject(
			contacts.map(({ city, company, ...contact }) => ({ ...contact, address: { city }, company_id: ofCompanies[company]!.id })),
		);
		const tags = new Map((await sandbox.list<IDataObject>('tags?limit=100')).map((tag) => [tag.name, tag.id]));
		expect(ofDeals).toMatchObject(
			deals.map(({ title, cents, day, ...deal }) => ({
				title,
				amount: cents / 100,
				expected_close_date: day,
				company_id: ofCompanies[deal.company]!.id,
				contact_ids: deal.contacts.map((contact) => ofContacts[contact]!.id),
				tag_ids: deal.tags.map((tag) => tags.get(tag)),
			})),
		);
	};
	const delimiter = fc.constantFrom(',', ';', '\t');
	await fc.assert(fc.asyncProperty(anyAccount, anyNotation, delimiter, fc.nat(), property), { numRuns: 20 });
});
