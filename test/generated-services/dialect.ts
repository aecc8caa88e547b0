import * as fc from 'fast-check';

/** How an operation takes idempotency keys. */
export type KeyPromise = 'declared' | 'undeclared' | 'ignored';

/** Everything in which one service differs from another that speaks the same API. */
export interface Dialect {
	/** Where the description puts the version prefix. */
	prefix: 'in paths' | 'in servers' | 'relative server' | 'folder in paths';
	openapi: '3.0.3' | '3.1.0';
	names: { text: string; count: string; match: string; batch: string };
	/** `isNested`: if it is linked, it is inside another member of the answer. */
	cursor: { name: string; isLinked: boolean; isNested: boolean };
	lastCursor: 'null' | 'absent' | 'empty';
	hasTotal: boolean;
	unknownParameters: 'ignored' | 'refused';
	pageSize: {
		name: string;
		stated: 'maximum' | 'exclusiveMaximum' | 'exclusiveMaximum of 3.0' | 'enum' | 'nowhere';
		maxSize: number;
		excess: 'clamped' | 'refused';
	};
	/** `hasOthers`: other headers about idempotency come before the one for the key. */
	key: { name: string; format: 'any' | 'uuid' | 'short' | 'pattern'; isRequired: boolean; hasOthers: boolean };
	/** How the parameter for the field to match on is described; without it, any record is found. */
	matchOn: 'enum' | 'const' | 'text' | 'reference';
	keysOf: { single: KeyPromise; batch: KeyPromise };
	batch: { maximum: number; results: 'index' | 'id' | 'order' } | undefined;
	update: 'patch' | 'merge-patch' | 'put with ETag' | 'put';
	body: 'inline' | 'reference' | 'allOf' | 'true' | 'oneOf';
	errors: 'problem' | 'nested' | 'map' | 'list' | 'text' | 'page' | 'nothing' | 'nulls';
	answers: 'record' | 'id' | 'nothing';
	/** Whether many keys of the description have no value, as is usual in YAML. */
	hasNulls: boolean;
	/** Whether the schemas contain what few tools understand. */
	hasOddSchemas: boolean;
}

const promise = fc.constantFrom<KeyPromise>('declared', 'declared', 'undeclared', 'ignored');
/** A name that the packaged description has, and names that every object of JavaScript has. */
const textNames = ['last_name', 'full name', 'naïve', 'toString', 'json', 'constructor'];

export const dialects: fc.Arbitrary<Dialect> = fc.record({
	prefix: fc.constantFrom('in paths', 'in servers', 'relative server', 'folder in paths'),
	openapi: fc.constantFrom('3.1.0', '3.0.3'),
	names: fc.record({
		text: fc.constantFrom(...textNames),
		count: fc.constantFrom('headcount', 'valueOf', 'data', 'total'),
		match: fc.constantFrom('email', 'code', 'hasOwnProperty'),
		batch: fc.constantFrom('items', 'records', 'constructor'),
	}),
	cursor: fc.record({
		name: fc.constantFrom('cursor', 'after', 'page_token', 'where_i_was', 'toString'),
		isLinked: fc.boolean(),
		isNested: fc.boolean(),
	}),
	lastCursor: fc.constantFrom('null', 'absent', 'empty'),
	hasTotal: fc.boolean(),
	unknownParameters: fc.constantFrom('ignored', 'refused'),
	pageSize: fc.record({
		name: fc.constantFrom('limit', 'page_size', 'perPage', 'how_many'),
		stated: fc.constantFrom('maximum', 'exclusiveMaximum', 'exclusiveMaximum of 3.0', 'enum', 'nowhere'),
		maxSize: fc.constantFrom(100, 7, 1, 20),
		excess: fc.constantFrom('clamped', 'refused'),
	}),
	key: fc.record({
		name: fc.constantFrom('Idempotency-Key', 'X-Idempotency-Token'),
		format: fc.constantFrom('any', 'uuid', 'short', 'pattern'),
		isRequired: fc.boolean(),
		hasOthers: fc.boolean(),
	}),
	matchOn: fc.constantFrom('enum', 'const', 'text', 'reference'),
	keysOf: fc.record({ single: promise, batch: promise }),
	batch: fc.option(
		fc.record({
			maximum: fc.constantFrom(4, 2, 1, 100),
			results: fc.constantFrom('index', 'id', 'order'),
		}),
		{ nil: undefined },
	),
	update: fc.constantFrom('patch', 'merge-patch', 'put with ETag', 'put'),
	body: fc.constantFrom('inline', 'inline', 'reference', 'allOf', 'true', 'oneOf'),
	errors: fc.constantFrom('problem', 'nested', 'map', 'list', 'text', 'page', 'nothing', 'nulls'),
	answers: fc.constantFrom('record', 'record', 'id', 'nothing'),
	hasNulls: fc.boolean(),
	hasOddSchemas: fc.boolean(),
});
