import { apiValue, convertValue, type Conversion } from '../../nodes/CrmPlatform/fields/convertValue';
import { fieldNamed, type Field } from '../../nodes/CrmPlatform/fields/field';
import { newChoices } from '../../nodes/CrmPlatform/importing/fileSurvey';
import { inApiNotation, type Notations } from '../../nodes/CrmPlatform/fields/notations';

const phone = fieldNamed('phone', { pattern: '^\\+[1-9]\\d{6,14}$' });
const country = fieldNamed('address.country', { pattern: '^[A-Z]{2}$' });
const of = (kind: Field['kind']) => fieldNamed(kind, { kind });
const groups = { ...of('list'), choices: ['Customer', 'Supplier'].map((label) => ({ label, value: label.toLowerCase() })) };
const valueMap = new Map([['kunde', 'customer'], ['lieferant', 'Supplier'], ['alle, alle', 'Supplier, Customer'], ['supplier', 'x']]);
const read = (field: Field, value: unknown, notations: Notations) =>
	apiValue(field, inApiNotation(field, value, notations), 'Europe/Berlin');

test.each<[string, Field, Notations, unknown, unknown]>([
	['day/month/year', of('date'), { dates: 'dayMonth' }, '31.3.2026', '2026-03-31'],
	['day/month/year', of('date'), { dates: 'dayMonth' }, '2026-03-31', '2026-03-31'],
	['day/month/year', of('dateTime'), { dates: 'dayMonth' }, '31/03/2026 14:30', '2026-03-31T12:30:00.000Z'],
	['day/month/year', of('date'), { dates: 'dayMonth' }, '\u200e31.3.2026', '2026-03-31'],
	['month/day/year', of('date'), { dates: 'monthDay' }, '3/14/1980', '1980-03-14'],
	['month/day/year', of('dateTime'), { dates: 'monthDay' }, '1/2/2026, 12:05 AM', '2026-01-01T23:05:00.000Z'],
	['Excel’s days', of('date'), { dates: 'excel' }, '46112', '2026-03-31'],
	['Excel’s days', of('date'), { dates: 'excel' }, 46112, '2026-03-31'],
	['English numbers', of('number'), { numbers: 'point' }, '$1,234,567.50', 1234567.5],
	['continental numbers', of('number'), { numbers: 'comma', currency: { label: 'Currency', code: 'EUR' } }, '1.250,50 €', 1250.5],
	['English numbers', of('number'), { numbers: 'point', currency: { label: 'Currency', code: 'CAD' } }, '($1,250)', -1250],
	['unclear numbers', of('number'), { numbers: 'unclear' }, '0.125', 0.125],
	['continental numbers', of('number'), { numbers: 'comma' }, '1.250', 1250],
	['continental numbers', of('number'), { numbers: 'comma' }, 'EUR 1\u00a0250', 1250],
	['words', of('boolean'), { booleans: 'words' }, 'Ja', true],
	['words', of('boolean'), { booleans: 'words' }, 'FALSCH', false],
	['marks', of('boolean'), { booleans: 'mark' }, 'X', true],
	['lists with semicolons', { ...of('list'), items: 'text' }, { separator: ';' }, 'Ovens, big; Mixers', ['Ovens, big', 'Mixers']],
	['a separator within quotes', { ...of('list'), items: 'text' }, { separator: ';' }, '"Bau; x"\n; 5" ;\t"VIP"', ['Bau; x', '5"', 'VIP']],
	['lists with three colons', { ...of('list'), items: 'text' }, { separator: ':::' }, 'a ::: b: c:::"d ::: e"', ['a', 'b: c', 'd ::: e']],
	['lists on lines', { ...of('list'), items: 'text' }, { separator: '\n' }, '"a\r\nb"\r\n\n\t"c"\nd', ['a\r\nb', 'c', 'd']],
	['lists with quotes', { ...of('list'), items: 'text' }, { separator: ',' }, '"VIP","Blog"', ['VIP', 'Blog']],
	['German phones', phone, { phoneCountry: 'DE' }, '0170 555 011', '+49170555011'],
	['German phones', phone, { phoneCountry: 'DE' }, '+44 20 7946 0958', '+442079460958'],
	['German phones', phone, { phoneCountry: 'DE' }, '0049 (0)221 2882', '+492212882'],
	['French phones', phone, { phoneCountry: 'FR' }, '01 23 45 06 07', '+33123450607'],
	['German phones', phone, { phoneCountry: 'DE' }, '\u202a(030) 1234-567\u202c', '+49301234567'],
	['German phones', phone, { phoneCountry: 'DE' }, '030 / 12 34 56', '+4930123456'],
	['German phones', phone, { phoneCountry: 'DE' }, '(+49) 30/123456', '+4930123456'],
	['Italian phones', phone, { phoneCountry: 'IT' }, '06 698 12345', '+390669812345'],
	['Italian phones', phone, { phoneCountry: 'IT' }, '392 1234567', '+393921234567'],
	['Polish phones', phone, { phoneCountry: 'PL' }, '48 123 45 67', '+48481234567'],
	['Luxembourg phones', phone, { phoneCountry: 'LU' }, '26 12 34 56', '+35226123456'],
	['Argentine phones', phone, { phoneCountry: 'AR' }, '011 2345-6789', '+541123456789'],
	['Brazilian phones', phone, { phoneCountry: 'BR' }, '(011) 93456-7890', '+5511934567890'],
	['American phones', phone, { phoneCountry: 'US' }, '(212) 555-0100', '+12125550100'],
	['names of countries', country, { countries: 'names' }, 'Deutschland', 'DE'],
	['names of countries', country, { countries: 'names' }, 'United Kingdom', 'GB'],
	['names of countries', country, { countries: 'names' }, "Côte d'Ivoire", 'CI'],
	['names of countries', country, { countries: 'names' }, 'Hong Kong', 'HK'],
	['names of countries', country, { countries: 'names' }, 'fr', 'FR'],
	['names of countries', country, { countries: 'names' }, 'RU', 'RU'],
	['names of countries', country, { countries: 'names' }, 'República Democrática del Congo', 'CD'],
	['a value map', { ...of('choice'), choices: [{ label: 'Lead', value: 'lead' }] }, {
		 valueMap: new Map([['subscriber', 'lead']]),
	}, 'Subscriber', 'lead'],
	['a value map', groups, { valueMap }, 'Kunde, Partner', ['customer', 'Partner']],
	['a value map', groups, { valueMap }, '["Kunde", "Lieferant"]', ['customer', 'supplier']],
	['a value map', groups, { valueMap }, 'Kunde', ['customer']],
	['a value map', groups, { valueMap }, 'Alle, alle', ['supplier', 'customer']],
	['continental numbers', { ...of('list'), items: 'number' }, { numbers: 'comma' }, '["1.250", "0,5"]', [1250, 0.5]],
])('with %s, a %o and %o, %j is read', (_, field, notations, value, expected) => {
	expect(read(field, value, notations)).toEqual(expected);
});

test('a choice that Value Map gives is created as it is, even if the map has another for its own name', () => {
	const conversion = { notations: { valueMap: new Map([['a', 'C'], ['c', 'Customer']]) }, zone: 'utc' };
	expect(newChoices(groups, { texts: new Set(['"A"', '"C"']) }, conversion)).toEqual([{ label: 'C', value: 'C' }]);
});

test.each<[string, Notations]>([
	['[""]', {}], [' , ', {}], [' ; ', { separator: ';' }], ['[]', { separator: ';' }], [',', { separator: ',' }],
])(
	'the text %j is a list without values, which clears nothing, with %j',
	(value, notations) => {
		const conversion: Conversion = { notations, whenCleared: 'clear', zone: 'utc' };
		expect(convertValue({ field: groups, value, givenBy: 'form' }, conversion)).toEqual({ do: 'skip', reason: 'blank' });
		expect(convertValue({ field: groups, value, givenBy: 'cellThatClears' }, conversion)).toEqual({ do: 'write', value: null });
	},
);

test.each<[Field, Notations, string]>([
	[of('date'), { dates: 'dayMonth' }, '3/14/1980'],
	[of('date'), { dates: 'dayMonth' }, '31.3.26'],
	[of('date'), { dates: 'dayMonth' }, '29.2.2025'],
	[of('dateTime'), { dates: 'monthDay' }, '1/2/2026, 13:05 AM'],
	[of('number'), { numbers: 'point' }, '5 TSD'],
	[of('number'), { numbers: 'point' }, '1,234 567'],
	[of('date'), { dates: 'excel' }, '45.000'], [of('date'), { dates: 'excel' }, '2026'], [of('dateTime'), { dates: 'excel' }, '1985'],
	[of('number'), { numbers: 'comma' }, '12.5'],
	[of('number'), { numbers: 'point' }, '1,25'],
	[of('number'), { numbers: 'comma' }, '0.125'],
	[of('boolean'), { booleans: 'words' }, 'perhaps'],
	[country, { countries: 'names' }, 'Congo'],
	[country, { countries: 'names' }, 'Kongo'],
	[country, { countries: 'names' }, 'XX'],
	[country, { countries: 'names' }, 'EL'],
	[country, { countries: 'names' }, 'Korea'],
])('%o with %o refuses %j, which could mean something else', (field, notations, value) => {
	expect(() => read(field, value, notations)).toThrow(`“${value}”`);
});

test.each([
	['DE', '5550134'],
	['ES', '34600123456'],
	['IT', '3906698123'], ['IT', '1-555-234-5678'], ['IT', '0039 (0)6 698123'], ['DE', '+39 (0)6 698123'],
	['US', '555-0134'],
	['LU', '352 456789'], ['LU', '352 12345'], ['AR', '011 15-2345-6789'], ['BR', '015 11 3456-7890'],
	['DE', '0221 2882 ext. 5'],
	['DE', '030 1234 / 030 5678'],
	['DE', '030 1234\n(030) 5678'],
	['DE', '030 1234 // 5678'],
	['DE', '030 1234 030 5678'],
	['DE', '030 1234 - 5678'],
	['DE', '+49 30 1234 / 5678'],
	['US', '(212) 555-0100 / 0101'],
	['US', '030 1234567'], ['US', '011 49 30123'], ['AU', '0011 49 30 123456'], ['JP', '010 49 30 12345'], ['SG', '001 44 20 7946 0958'],
])('a phone number in %s without its area code, with more, or perhaps with its calling code, stays as it is: %s', (phoneCountry, value) => {
	expect(read(phone, value, { phoneCountry })).toBe(value);
});
