import * as fc from 'fast-check';

/** How an operation takes idempotency keys. */
export type KeyPromise = 'declared' | 'undeclared' | 'ignored';

/** Everything in which one service differs from another that speaks the same API. */
export interface Dialect {
	/** Where the description puts the version prefix. */
	prefix: 'in paths' | 'in servers' | 'relative server';
	openapi: '3.0.3' | '3.1.0';
	names: { text: string; count: string; match: string; batch: string };
	cursor: string;
	/** Absent on the last page only with a total. */
	lastCursor: 'null without total' | 'null' | 'absent';
	unknownParameters: 'ignored' | 'refused';
	pageSize: {
		name: string;
		stated: 'maximum' | 'exclusiveMaximum' | 'exclusiveMaximum of 3.0' | 'nowhere';
		maxSize: number;
		excess: 'clamped' | 'refused';
	};
	/** `hasOthers`: other headers about idempotency come before the one for the key. */
	key: { name: string; format: 'any' | 'uuid' | 'short'; isRequired: boolean; hasOthers: boolean };
	/** How the parameter for the field to match on is described; without it, any record is found. */
	matchOn: 'enum' | 'const' | 'reference';
	keysOf: { single: KeyPromise; batch: KeyPromise };
	batch: { maximum: number } | undefined;
	update: 'patch' | 'merge-patch' | 'put with ETag' | 'put';
	body: 'inline' | 'reference' | 'allOf';
	errors: 'problem' | 'nested' | 'text' | 'page' | 'nothing';
	answers: 'record' | 'id';
	/** Whether many keys of the description have no value, as is usual in YAML. */
	hasNulls: boolean;
	/** Whether the schemas contain what few tools understand. */
	hasOddSchemas: boolean;
}

const promise = fc.constantFrom<KeyPromise>('declared', 'declared', 'undeclared', 'ignored');
/** A name that the packaged description has, and names that every object of JavaScript has. */
const textNames = ['last_name', 'full name', 'naïve', 'toString', 'json', 'constructor'];

export const dialects: fc.Arbitrary<Dialect> = fc.record({
	prefix: fc.constantFrom('in paths', 'in servers', 'relative server'),
	openapi: fc.constantFrom('3.1.0', '3.0.3'),
	names: fc.record({
		text: fc.constantFrom(...textNames),
		count: fc.constantFrom('headcount', 'valueOf', 'data', 'total'),
		match: fc.constantFrom('email', 'code', 'hasOwnProperty'),
		batch: fc.constantFrom('items', 'records', 'constructor'),
	}),
	cursor: fc.constantFrom('cursor', 'after', 'page_token'),
	lastCursor: fc.constantFrom('null without total', 'null', 'absent'),
	unknownParameters: fc.constantFrom('ignored', 'refused'),
	pageSize: fc.record({
		name: fc.constantFrom('limit', 'page_size', 'per_page'),
		stated: fc.constantFrom('maximum', 'exclusiveMaximum', 'exclusiveMaximum of 3.0', 'nowhere'),
		maxSize: fc.constantFrom(100, 7, 1, 20),
		excess: fc.constantFrom('clamped', 'refused'),
	}),
	key: fc.record({
		name: fc.constantFrom('Idempotency-Key', 'X-Idempotency-Key'),
		format: fc.constantFrom('any', 'uuid', 'short'),
		isRequired: fc.boolean(),
		hasOthers: fc.boolean(),
	}),
	matchOn: fc.constantFrom('enum', 'const', 'reference'),
	keysOf: fc.record({ single: promise, batch: promise }),
	batch: fc.option(
		fc.record({ maximum: fc.constantFrom(4, 2, 1, 100) }),
		{ nil: undefined },
	),
	update: fc.constantFrom('patch', 'merge-patch', 'put with ETag', 'put'),
	body: fc.constantFrom('inline', 'inline', 'reference', 'allOf'),
	errors: fc.constantFrom('problem', 'nested', 'text', 'page', 'nothing'),
	answers: fc.constantFrom('record', 'record', 'id'),
	hasNulls: fc.boolean(),
	hasOddSchemas: fc.boolean(),
});
