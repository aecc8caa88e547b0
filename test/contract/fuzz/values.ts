import * as fc from 'fast-check';

/** Texts that programs trip over. */
export const oddText = fc.oneof(
	fc.constantFrom(
		'',
		' ',
		'\u0000',
		'a\u0000b',
		'\ud800',
		'a\udfff',
		'\u202e right to left',
		'\ufeff',
		'\r\nX-Injected: yes',
		'👩‍👩‍👧‍👦',
		'İıſß',
		'__proto__',
		'constructor',
		'%',
		'%zz',
		"'; DROP TABLE contacts; --",
		'$.a"b',
		'../../etc/passwd',
		'9999-12-31T23:59:59.999Z',
		'-271821-04-20T00:00:00Z',
		'0000-00-00',
		'1e400',
		'null',
	),
	fc.string({ unit: 'binary' }),
	fc.integer({ min: 200, max: 70_000 }).map((length) => 'x'.repeat(length)),
);

export const oddNumber = fc.oneof(
	fc.constantFrom(-0, -1, 0.1, 1e21, 2 ** 53, -(2 ** 53), Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324),
	fc.double({ noNaN: true, noDefaultInfinity: true }),
	fc.integer(),
);

const oddKey = fc.oneof(
	fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '', 'a/b~c'),
	fc.string({ unit: 'binary', maxLength: 20 }),
);

const nested = (depth: number) =>
	Array.from({ length: depth }).reduce<unknown>((inner, _, i) => (i % 2 ? [inner] : { a: inner }), 1);

/** Any JSON, wrong nearly everywhere. */
export const junk: fc.Arbitrary<unknown> = fc.oneof(
	{ weight: 4, arbitrary: oddText },
	{ weight: 3, arbitrary: oddNumber },
	{ weight: 3, arbitrary: fc.constantFrom(null, true, false, [], {}, [[]], [null]) },
	{ weight: 1, arbitrary: fc.integer({ min: 2, max: 500 }).map(nested) },
	{
		weight: 2,
		arbitrary: fc
			.array(fc.tuple(oddKey, fc.oneof(oddText, oddNumber, fc.constant(null))), { maxLength: 5 })
			// Own properties, also where the name is __proto__.
			.map((entries) => Object.fromEntries(entries)),
	},
	{ weight: 1, arbitrary: fc.array(fc.oneof(oddText, oddNumber), { maxLength: 5 }) },
);

/** The value as it stands in an address; placeholders (`«contacts:3»`) stay as they are. */
export const encoded = (text: string): string =>
	text
		.split(/(«[^»]+»)/)
		// By way of bytes, as half of a surrogate pair cannot be encoded.
		.map((part) => (part.startsWith('«') ? part : encodeURIComponent(Buffer.from(part).toString())))
		.join('');

/** @param weight how often the usual comes for once the odd */
export const rarely = <T>(
	odd: fc.Arbitrary<T>,
	usual: T | fc.Arbitrary<T>,
	weight = 20,
): fc.Arbitrary<T> =>
	fc.oneof(
		{ weight: Math.round(weight), arbitrary: usual instanceof fc.Arbitrary ? usual : fc.constant(usual) },
		{ weight: 1, arbitrary: odd },
	);
