import { fieldNamed, type Field, type FieldKind } from '../../nodes/CrmPlatform/fields/field';
import { isBlank } from '../../nodes/CrmPlatform/values/blank';
import { trimmed } from '../../nodes/CrmPlatform/values/foldedText';
import { decideValue, type GivenBy, type ValueDecision, type WhenCleared } from '../../nodes/CrmPlatform/fields/convertValue';

// The table under *Fields* in docs/guide/write-records.md, row by row, for what an update does.

const decided = (
	kind: FieldKind, value: unknown, givenBy: GivenBy, whenCleared: WhenCleared = 'clear', more: Partial<Field> = {},
): ValueDecision => decideValue({ field: fieldNamed('x', { kind, ...more }), value, givenBy }, whenCleared);

const write = (value: unknown): ValueDecision => ({ do: 'write', value });
const clear: ValueDecision = { do: 'clear' };
const skip = (reason: 'blank' | 'undefined' | 'neverCleared'): ValueDecision => ({ do: 'skip', reason });

test('white space of any length is blank at once', () => {
	expect([isBlank(' '.repeat(1_000_000)), isBlank(`a${' '.repeat(1_000_000)}b`)]).toEqual([true, false]);
	expect(trimmed(` a${' '.repeat(1_000_000)}b\n`)).toHaveLength(1_000_002);
});

test.each([null, undefined, '', ' \n', [], [' ']])('a row of the form with %j was left empty', (value) => {
	expect(isBlank(value)).toBe(true);
});

test.each<[kind: FieldKind, value: unknown, chosen: ValueDecision, leaves: ValueDecision, clears: ValueDecision, model: ValueDecision]>([
	// kind, value, chosen in the form or in JSON, an empty cell that leaves, one that clears, a model's
	['text', 'Ada', write('Ada'), write('Ada'), write('Ada'), write('Ada')],
	['text', null, clear, skip('blank'), clear, clear],
	['text', '', clear, skip('blank'), clear, skip('blank')],
	['text', ' ', clear, skip('blank'), clear, skip('blank')],
	['text', '\u200b\u00ad\u2800\u0007', clear, skip('blank'), clear, skip('blank')],
	['number', ' ', clear, skip('blank'), clear, skip('blank')],
	['number', 0, write(0), write(0), write(0), write(0)],
	['boolean', false, write(false), write(false), write(false), write(false)],
	['list', [], write([]), skip('blank'), clear, skip('blank')],
	['list', ['a'], write(['a']), write(['a']), write(['a']), write(['a'])],
	['list', '[]', skip('blank'), skip('blank'), clear, skip('blank')],
	['list', ' , ', skip('blank'), skip('blank'), clear, skip('blank')],
	['json', { lat: '' }, write({ lat: '' }), skip('blank'), write({ lat: '' }), skip('blank')],
	['json', { lat: null }, write({ lat: null }), write({ lat: null }), write({ lat: null }), write({ lat: null })],
	['json', { lat: '', lng: 1 }, write({ lat: '', lng: 1 }), write({ lng: 1 }), write({ lat: '', lng: 1 }), write({ lng: 1 })],
	['json', [], write([]), skip('blank'), clear, skip('blank')],
	['json', '[]', skip('blank'), skip('blank'), clear, skip('blank')],
	['json', [{ value: '' }], write([{ value: '' }]), skip('blank'), clear, skip('blank')],
	['json', [{ value: ' ', tags: [] }, ''], write([{ value: ' ', tags: [] }, '']), skip('blank'), clear, skip('blank')],
	['json', '[{"value":""}]', skip('blank'), skip('blank'), clear, skip('blank')],
	['json', { a: '', b: { c: '' } }, write({ a: '', b: { c: '' } }), skip('blank'), write({ a: '', b: { c: '' } }), skip('blank')],
])('%s %j is written, clears or is left out, depending on who gave it', (kind, value, chosen, leaves, clears, model) => {
	expect(decided(kind, value, 'form')).toEqual(chosen);
	expect(decided(kind, value, 'cellThatLeaves')).toEqual(leaves);
	expect(decided(kind, value, 'cellThatClears')).toEqual(clears);
	expect(decided(kind, value, 'model')).toEqual(model);
});

test('an expression that returns undefined is distinguished from a blank', () => {
	expect(decided('text', undefined, 'form')).toEqual(skip('undefined'));
	expect(decided('text', undefined, 'model')).toEqual(skip('blank'));
	for (const kind of ['list', 'json'] as const) {
		expect(decided(kind, [undefined, { a: undefined }], 'form')).toEqual(skip('undefined'));
		expect(decided(kind, [undefined], 'cellThatClears')).toEqual(skip('blank'));
	}
});

test.each(['form', 'cellThatClears'] as const)('a new record has nothing to clear: null from a %s is not sent', (givenBy) => {
	expect(decided('text', null, givenBy, 'skip')).toEqual(skip('neverCleared'));
});

test('a new record has nothing to clear: an empty list is not sent, except in a field of the kind `any`, whose value it may be', () => {
	expect(decided('list', [], 'form', 'skip')).toEqual(skip('neverCleared'));
	expect(decided('json', [{ value: '' }], 'form', 'skip')).toEqual(skip('neverCleared'));
	expect(decided('any', [], 'form', 'skip')).toEqual(write([]));
	// A text has no list: its conversion refuses it.
	expect(decided('text', [''], 'form', 'skip')).toEqual(write(['']));
});

test('an empty cell, or a model, never clears all custom fields at once', () => {
	const all = { name: 'custom_fields', label: 'Custom Fields' };
	expect(decided('json', '', 'cellThatClears', 'skip', all)).toEqual(skip('neverCleared'));
	expect(decided('json', { lat: '', lng: 1 }, 'cellThatClears', 'skip')).toEqual(write({ lng: 1 }));
	expect(() => decided('json', '', 'cellThatClears', 'clear', all)).toThrow('would clear every custom field');
	expect(() => decided('json', null, 'model', 'clear', all)).toThrow('would clear every custom field');
	expect(decided('json', '', 'cellThatLeaves', 'clear', all)).toEqual(skip('blank'));
});
