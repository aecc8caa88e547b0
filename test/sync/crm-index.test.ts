import { fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { matchKey } from '../../nodes/CrmPlatform/fields/keys';
import { indexRecords, matchesOf, type SourceRecord } from '../../nodes/CrmPlatform/sync/matching';

const [email, code, name] = [fieldNamed('email'), fieldNamed('code'), fieldNamed('name')];
const ada = { id: 'con_1', email: 'ada@x.example', name: 'Ada' };
const bob = { id: 'con_2', email: 'bob@x.example', name: 'Bob' };

test('an index finds each record by each of its keys, and none without a key', () => {
	const records = [ada, { ...bob, email: ada.email }, { id: 'con_3', email: '' }];
	const index = indexRecords(records, [email, name]);
	expect(index.find(0, matchKey(email, ada.email)!).map(({ id }) => id)).toEqual(['con_1', 'con_2']);
	expect(index.find(1, 'Bob').map(({ id }) => id)).toEqual(['con_2']);
	expect([index.find(0, 'nobody'), index.find(0, 'undefined'), index.find(2, 'Bob'), index.records]).toEqual([[], [], [], records]);
});

test('the first key that finds a record decides, whatever later ones find', () => {
	const index = indexRecords([{ ...ada, code: 'A' }, { ...bob, code: 'B' }], [email, code]);
	const found = (keys: Array<string | undefined>) => {
		const { field: by, records } = matchesOf({ keys } as SourceRecord, index);
		return [by, ...records.map(({ id }) => id)];
	};
	expect(found([ada.email, 'B'])).toEqual([0, 'con_1']);
	expect(found(['nobody', 'B'])).toEqual([1, 'con_2']);
	expect(found([undefined, 'B'])).toEqual([1, 'con_2']);
	expect(found(['nobody', 'C'])).toEqual([0]);
});
