import fc from 'fast-check';
import { DateTime, Duration } from 'luxon';
import type { IDataObject } from 'n8n-workflow';

const names = ['a', 'b', 'list', 'name', 'it is', '0', 'sort', 'class'];
const texts = ['', 'text', 'Ada', '2026-03-01T00:00:00.000Z', '{{ 1 }}'];
const leaf = fc.oneof(fc.constantFrom(null, 0, -1.5, true, false, ...texts), fc.string({ maxLength: 5 }));

/** A row of a database driver whose members are inherited. */
class Row {
	readonly b = [1];

	get a(): string {
		return 'of the row';
	}
}

/** Values beyond JSON that nodes put into items, and that both engines accept. */
const others = [
	new Date('2026-03-31T10:00:00Z'),
	new Row(),
	Object.assign(Object.create(null), { a: 1 }) as object,
	NaN,
	10n,
];

/** Values that the engine `vm` returns as plain objects of their internals. */
const othersInProcess = [
	DateTime.fromISO('2026-03-31T10:00:00Z', { zone: 'UTC' }),
	Duration.fromMillis(5),
	new Map([['a', 1]]),
	new URL('https://crm.example/a'),
];

/** A few items of any shape, with values beyond JSON that the engine accepts. */
export const itemsFor = (engine: 'legacy' | 'vm'): fc.Arbitrary<IDataObject[]> => {
	const other = fc.constantFrom(...others, ...(engine === 'legacy' ? othersInProcess : []));
	const { json } = fc.letrec<{ json: IDataObject; value: unknown }>((tie) => ({
		json: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }) as fc.Arbitrary<IDataObject>,
		value: fc.oneof(
			{ maxDepth: 3 },
			{ weight: 3, arbitrary: leaf },
			other,
			{ weight: 3, arbitrary: tie('json') },
			{ weight: 3, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
		),
	}));
	return fc.array(json, { minLength: 1, maxLength: 3 });
};
