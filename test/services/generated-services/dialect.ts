import * as fc from 'fast-check';

/** How an operation takes idempotency keys. */
export type KeyPromise = 'declared' | 'undeclared' | 'ignored';

/** Everything in which one service differs from another that speaks the same API. */
export interface Dialect {
	/** Where the description puts the version prefix. */
	prefix: 'in paths' | 'in servers';
	openapi: '3.0.3' | '3.1.0';
	names: { text: string; count: string; match: string; batch: string };
	cursor: string;
	/** Absent on the last page only with a total. */
	lastCursor: 'null without total' | 'null' | 'absent';
	pageSize: { name: string; maxSize: number };
	key: { name: string; format: 'any' | 'uuid' | 'short'; isRequired: boolean };
	keysOf: { single: KeyPromise; batch: KeyPromise };
	batch: { maximum: number } | undefined;
	update: 'patch' | 'put with ETag' | 'put';
	errors: 'problem' | 'nested' | 'text' | 'page' | 'nothing';
	answers: 'record' | 'id';
}

const promise = fc.constantFrom<KeyPromise>('declared', 'declared', 'undeclared', 'ignored');
/** A name that the packaged description has, and names that every object of JavaScript has. */
const textNames = ['last_name', 'full name', 'naïve', 'toString', 'json', 'constructor'];

export const dialects: fc.Arbitrary<Dialect> = fc.record({
	prefix: fc.constantFrom('in paths', 'in servers'),
	openapi: fc.constantFrom('3.1.0', '3.0.3'),
	names: fc.record({
		text: fc.constantFrom(...textNames),
		count: fc.constantFrom('headcount', 'valueOf', 'data', 'total'),
		match: fc.constantFrom('email', 'code', 'hasOwnProperty'),
		batch: fc.constantFrom('items', 'records', 'constructor'),
	}),
	cursor: fc.constantFrom('cursor', 'after', 'page_token'),
	lastCursor: fc.constantFrom('null without total', 'null', 'absent'),
	pageSize: fc.record({
		name: fc.constantFrom('limit', 'page_size', 'per_page'),
		maxSize: fc.constantFrom(100, 7, 1, 20),
	}),
	key: fc.record({
		name: fc.constantFrom('Idempotency-Key', 'X-Idempotency-Key'),
		format: fc.constantFrom('any', 'uuid', 'short'),
		isRequired: fc.boolean(),
	}),
	keysOf: fc.record({ single: promise, batch: promise }),
	batch: fc.option(fc.record({ maximum: fc.constantFrom(4, 2, 1, 100) }), { nil: undefined }),
	update: fc.constantFrom('patch', 'patch', 'put with ETag', 'put'),
	errors: fc.constantFrom('problem', 'nested', 'text', 'page', 'nothing'),
	answers: fc.constantFrom('record', 'record', 'id'),
});
