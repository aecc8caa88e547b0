import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { mergePatch } from '../../nodes/CrmPlatform/api/record';
import { memberAtPath } from '../../nodes/CrmPlatform/base/ownMembers';
import { matchKey } from '../../nodes/CrmPlatform/fields/keys';
import { RecordComparison } from '../../nodes/CrmPlatform/fields/recordComparison';
import { type FieldKind, fieldNamed } from '../../nodes/CrmPlatform/fields/field.ts';
import { reconcile, type Side } from '../../nodes/CrmPlatform/sync/syncPlan';
import { randomRuns } from '../support/random-runs.ts';

const comparison = new RecordComparison([
	fieldNamed('email', { lowerCase: [''] }),
	fieldNamed('emails', { kind: 'json', lowerCase: ['*.value'] }),
	fieldNamed('name'),
	fieldNamed('address.city'),
	fieldNamed('due_at', { kind: 'dateTime' }),
	fieldNamed('tag_ids', { kind: 'list' }),
	fieldNamed('website', { isUrl: true }),
	fieldNamed('links', { kind: 'json', linksTo: ['/contacts'] }),
	fieldNamed('about', { kind: 'json', linksTo: ['/contacts'] }),
	fieldNamed('place', { kind: 'json', lowerCase: ['code'] }),
]);

test.each([
	['case, if the CRM stores lower case', { email: 'ada@x.example' }, { email: 'Ada@X.example' }],
	['case within a list', { emails: [{ value: 'a@x.example', label: null }] }, { emails: [{ value: 'A@x.example' }] }],
	['case within an object', { place: { code: 'fr', zip: 1 } }, { place: { code: 'FR' } }],
	['the zone of an instant', { due_at: '2026-03-01T10:00:00.000Z' }, { due_at: '2026-03-01T11:00:00+01:00' }],
	['the notation of a web address', { website: 'https://one.example/' }, { website: 'HTTPS://One.example:443' }],
	['an ID as text in a link to any type', { about: { resource: 'contacts', id: 5 } }, { about: { resource: 'contacts', id: '5' } }],
	['an ID as text in links to any type', { links: [{ resource: 'contacts', id: 5 }] }, { links: [{ resource: 'contacts', id: '5' }] }],
	['a value that is undefined', { name: 'Ada' }, { name: undefined }],
	['a value that the source lacks', { name: 'Ada', email: 'a@x.example' }, { name: 'Ada' }],
	['an object of which the source has no part', { address: { city: 'Lyon' } }, { address: {} }],
	['parts of an object that the source lacks', { address: { city: 'Lyon', zip: '1' } }, { address: { city: 'Lyon' } }],
])('%s makes no difference', (_, stored, incomingValues) => {
	expect(comparison.difference(stored, incomingValues)).toEqual({ changes: [], patch: {} });
});

test.each([
	['case, if the CRM keeps it', { name: 'ada' }, { name: 'Ada' }, 'name'],
	[
		'case of other texts in the same list', { emails: [{ value: 'a', label: 'home' }] }, { emails: [{ value: 'a', label: 'Home' }] },
		'emails',
	],
	['a value that is cleared', { name: 'Ada' }, { name: null }, 'name'],
	['a missing element', { tag_ids: ['a', 'b'] }, { tag_ids: ['a'] }, 'tag_ids'],
])('%s is a difference', (_, stored, incomingValues, name) => {
	const { changes, patch } = comparison.difference(stored, incomingValues);
	expect(changes).toEqual([{ field: name, from: Object.values(stored)[0], to: Object.values(incomingValues)[0] }]);
	expect(patch).toEqual(incomingValues);
	expect(comparison.difference(mergePatch(stored, patch), incomingValues).changes).toEqual([]);
});

test('only the parts of an object that differ are sent', () => {
	const stored = { address: { city: 'Lyon', zip: '1', country: 'FR' } };
	const { changes, patch } = comparison.difference(stored, { address: { city: 'Bonn', zip: '1' } });
	expect(changes).toEqual([{ field: 'address.city', from: 'Lyon', to: 'Bonn' }]);
	expect(patch).toEqual({ address: { city: 'Bonn' } });
});

test('the members of JSON are compared one by one, or as one value', () => {
	const stored = { place: { code: 1, zip: 1 }, address: { city: 'Lyon' } };
	const target = { place: { code: 2, zip: 1 }, address: { city: 'Bonn' } };
	const patchOf = (kind: FieldKind, isWhole?: boolean) =>
		new RecordComparison([fieldNamed('place', { kind }), fieldNamed('address.city')], isWhole).difference(stored, target).patch;
	expect(patchOf('json', true)).toEqual(target);
	for (const parts of [patchOf('json'), patchOf('text', true)]) expect(parts).toEqual({ ...target, place: { code: 2 } });
});

test('a key is equal for values that the CRM treats as equal', () => {
	const email = fieldNamed('email', { lowerCase: [''] });
	expect(matchKey(email, 'ADA@x.example')).toBe(matchKey(email, 'ada@x.example'));
	expect(matchKey(fieldNamed('code'), 'A')).not.toBe(matchKey(fieldNamed('code'), 'a'));
	expect(matchKey(email, '')).toBeUndefined();
});

test.each([
	['a space after it', 'K 1 ', 'K 1'],
	['the composition of its accents', 'Zoe\u0308', 'Zo\u00eb'],
])('a key does not depend on %s', (_, first, second) => {
	expect(matchKey(fieldNamed('code'), first)).toBe(matchKey(fieldNamed('code'), second));
});

const text = fc.constantFrom('a', 'b', 'c', null);
const texts = fc.record({ name: text, address: fc.record({ city: text, zip: text }, { requiredKeys: [] }) }, { requiredKeys: [] });
const agreed = fc.oneof<Array<fc.Arbitrary<IDataObject | undefined>>>(
	fc.constant(undefined), texts, fc.record({ 'address.city': text }), fc.constant({ address: null }),
);
const winners = fc.constantFrom<Side | undefined>('source', 'crm', undefined);

test('each value of a merge is that of the side that has changed it, or of the winner if both have', () => {
	fc.assert(fc.property(agreed, texts, texts, winners, (base, source, crm, winner) => {
		const at = (record: IDataObject = {}, path: string): unknown =>
			(Object.hasOwn(record, path) ? record[path] : memberAtPath(record, path.split('.')));
		const stored = (path: string) => at(crm, path) ?? null;
		const differing = ['name', 'address.city', 'address.zip'].filter((path) => ![stored(path), undefined].includes(at(source, path)));
		const sides = differing.map((path): Side | 'both' => {
			const last = base?.address === null && path !== 'name' ? null : at(base, path);
			if (last === undefined || ![at(source, path), stored(path)].includes(last)) return 'both';
			return last === at(source, path) ? 'crm' : 'source';
		});
		const merged = reconcile(comparison, { agreed: base, source, crm }, winner);
		if (sides.includes('both') && winner === undefined) return expect(merged).toBeUndefined();
		const isKept = (i: number) => (sides[i] === 'both' ? winner : sides[i]) === 'crm';
		const changes = differing.map((path, i) => ({ field: path, from: stored(path), to: at(source, path), ...(isKept(i) && { kept: true }) }));
		expect(merged).toMatchObject({ isRuled: sides.includes('both'), changes: expect.arrayContaining(changes) });
		expect(merged!.changes).toHaveLength(changes.length);
		expect(differing.filter((path) => at(merged!.patch, path) !== undefined)).toEqual(differing.filter((_, i) => !isKept(i)));
		for (const { field, to, kept } of changes) if (!kept) expect(at(merged!.patch, field)).toBe(to);
	}), randomRuns(1_000));
});

test('an addition of the CRM to an object of a list, or a removal, is an edit of it', () => {
	const [plain, labeled, source] = [{ value: 'a' }, { value: 'a', label: 'private' }, { value: 'b' }].map((entry) => ({ emails: [entry] }));
	expect(reconcile(comparison, { agreed: plain, source: source!, crm: labeled! }, undefined)).toBeUndefined();
	expect(reconcile(comparison, { agreed: labeled, source: source!, crm: plain! }, undefined)).toBeUndefined();
	const plan = reconcile(comparison, { agreed: plain, source: source!, crm: plain! }, undefined);
	expect(plan).toMatchObject({ patch: source, isRuled: false });
});
