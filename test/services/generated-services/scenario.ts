import * as fc from 'fast-check';
import { NodeApiError, NodeOperationError, type IDataObject, type INodeParameters } from 'n8n-workflow';

import { run, type Run } from '../../support/node-runs.ts';
import { automatic, create, deleteRecord, getMany, update } from '../../support/parameters.ts';
import { dialects, type Dialect } from './dialect.ts';
import { faults, type Fault } from './faults.ts';
import type { GeneratedServer } from './generated-server.ts';
import { ownValue, type GeneratedService } from './generated-service.ts';

/** One node in one workflow against one generated service. */
export interface Scenario {
	dialect: Dialect;
	faults: Fault[];
	operation: 'create' | 'update' | 'upsert' | 'delete' | 'getMany';
	/** Items of the input, or records of the list. */
	count: number;
	/** Items with a value that cannot be read at the first attempt. */
	invalid: number[];
	/** Items for the same record as the one before. */
	shared: number[];
	/** Attempts of Retry On Fail. */
	attempts: number;
	/** The attempts at which the description cannot be read, and how. */
	undescribed: { attempts: number[]; how: 'status' | 'page' | 'list' | 'null' };
	batchSize: number;
	continueOnFail: boolean;
}

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
	dialect: dialects,
	faults: fc.array(faults, { maxLength: 3 }),
	operation: fc.constantFrom('create', 'create', 'update', 'upsert', 'delete', 'getMany'),
	count: fc.integer({ min: 1, max: 12 }),
	invalid: fc.array(fc.nat(11), { maxLength: 2 }),
	shared: fc.array(fc.nat(11), { maxLength: 2 }),
	attempts: fc.constantFrom(1, 2, 3),
	undescribed: fc.record({
		attempts: fc.array(fc.nat(2), { maxLength: 2 }),
		how: fc.constantFrom('status', 'page', 'list', 'null'),
	}),
	batchSize: fc.constantFrom(0, 0, 1, 3),
	continueOnFail: fc.boolean(),
} as const);

/** The outcome of an attempt: items, or the error that the node failed with. */
interface Attempt {
	items: IDataObject[];
	hints: string[];
	error?: Error;
}

export interface Outcome {
	service: GeneratedService;
	attempts: Attempt[];
	/** The input of the last attempt. */
	input: IDataObject[];
	/** The records before the first attempt, by ID. */
	before: Map<string, IDataObject>;
}

const minutes = 60_000;

/** Runs the node as n8n does: while it fails, again in the same context. */
export async function playScenario(server: GeneratedServer, clock: { pass(ms: number): void }, scenario: Scenario): Promise<Outcome> {
	const { dialect, operation, count, invalid, undescribed } = scenario;
	const { service, url } = server.open(dialect, scenario.faults, operation === 'getMany' ? count * 4 : count + 2);
	const before = new Map([...service.records].map(([id, row]) => [id, { ...row } as IDataObject]));
	const ids = [...before.keys()];
	const context = {};
	const attempts: Attempt[] = [];
	let input: IDataObject[] = [];
	for (let attempt = 0; attempt < scenario.attempts; attempt++) {
		service.attempt = attempt;
		service.description = undescribed.attempts.includes(attempt) ? unreadable[undescribed.how] : undefined;
		const target = (item: number): number => (scenario.shared.includes(item) && item > 0 ? target(item - 1) : item);
		input = operation === 'getMany' ? [{}] : Array.from({ length: count }, (_, item) => ({
			[dialect.names.text]: `item ${item}`,
			...(attempt === 0 && invalid.includes(item) && { [dialect.names.count]: 'many' }),
			...(operation === 'upsert' && { [dialect.names.match]: `row-${target(item) * 2}` }),
			...(['update', 'delete'].includes(operation) && { target: ids[target(item)] ?? '' }),
		}));
		const outcome: Run | Error = await run({
			credential: { baseUrl: url, apiKey: url },
			credentialId: url,
			parameters: { ...parametersOf(scenario), options: scenario.batchSize > 0 ? { batchSize: scenario.batchSize } : {} },
			items: input,
			executionId: url,
			context,
			retryOnFail: scenario.attempts > 1,
			continueOnFail: scenario.continueOnFail,
		}).catch((error: Error) => error);
		if (outcome instanceof Error) attempts.push({ items: [], hints: [], error: outcome });
		else attempts.push({ items: outcome.items.map(({ json }) => json), hints: outcome.hints });
		const isFailed = outcome instanceof Error || Boolean(outcome.items[0]?.json.error);
		if (!isFailed) break;
		// The description is read again after five minutes.
		clock.pass(6 * minutes);
	}
	return { service, attempts, input, before };
}

const unreadable = {
	status: { status: 500, body: {} },
	page: { status: 200, text: '<html></html>', type: 'text/html' },
	list: { status: 200, body: [] },
	null: { status: 200, body: { openapi: '3.1.0', paths: null } },
};

function parametersOf({ operation, dialect: { names } }: Scenario): INodeParameters {
	if (operation === 'getMany') return getMany('contact');
	if (operation === 'create') return create('contact', automatic);
	const matching = { ...automatic, matchingColumns: [names.match] };
	if (operation === 'upsert') return { ...create('contact', matching), operation: 'upsert' };
	const target = '={{ $json.target }}';
	return operation === 'update' ? update('contact', target, automatic) : deleteRecord('contact', target);
}

const languageErrors = new RegExp(
	[
		'TypeError|RangeError|SyntaxError|ZodError|undefined is not|Cannot (read|convert|destructure)|is not (a function|iterable|defined)',
		'Invalid time value|Maximum call stack|Unexpected (token|end)|in JSON at|\\[object Object\\]|could not work with one of the values',
	].join('|'),
);

/** The broken promises, in words. They hold for every service. */
export function brokenScenarioPromises(scenario: Scenario, outcome: Outcome): string[] {
	const { service, attempts, input, before } = outcome;
	const { operation, count, dialect } = scenario;
	const { text } = dialect.names;
	const broken: string[] = [];
	const last = attempts.at(-1)!;
	const words = attempts.flatMap(({ error, hints, items }) => [
		...wordsOf(error),
		...hints,
		...items.flatMap((item) => (isFailure(item) ? [JSON.stringify(item)] : [])),
	]);
	for (const message of words) if (languageErrors.test(message)) broken.push(`an error of JavaScript reaches the user: ${message}`);
	for (const { error } of attempts) {
		if (error && !(error instanceof NodeApiError || error instanceof NodeOperationError))
			broken.push(`not an error of a node: ${String(error.stack)}`);
	}
	const maxRequests = attempts.length * (10 + (operation === 'getMany' ? 5 * count * 4 : 30 * count));
	if (service.requests.length > maxRequests) broken.push(`${service.requests.length} requests`);

	if (operation === 'getMany') {
		const ids = last.items.map(({ id }) => id);
		const isComplete = ids.length === before.size && new Set(ids).size === ids.length;
		const isReported = last.error !== undefined || last.items.some(isFailure);
		if (!isComplete && !isReported) broken.push(`${ids.length} of ${before.size} records, ${new Set(ids).size} different ones`);
		return broken;
	}
	const isWarned = words.some((message) => /Retry On Fail may write|may have (been )?(carried|written)|could not be read/.test(message));
	for (const item of input.keys()) broken.push(...brokenItemPromises(scenario, outcome, item, isWarned));
	for (const { values, kind } of service.effects) {
		if (kind !== 'delete' && ownValue(values, text) === undefined)
			broken.push(`written without the values of the items: ${JSON.stringify(values)}`);
	}
	const targets = new Set(input.map(({ target }) => target));
	for (const [id, row] of before) {
		const now = service.records.get(id);
		if (!now && !(operation === 'delete' && targets.has(id))) broken.push(`${id} is gone`);
		const { match } = dialect.names;
		if (now && ownValue(now, match) !== ownValue(row, match)) broken.push(`${id} has lost a value that nobody changed`);
	}
	if (operation === 'update' && !last.error && last.items.every((item) => !isFailure(item))) {
		for (const id of targets) {
			const latest = input.findLast(({ target }) => target === id)!;
			const now = ownValue(service.records.get(String(id)) ?? {}, text);
			if (now !== ownValue(latest, text))
				broken.push(`${String(id)} holds ${String(now)}, not the latest value ${String(ownValue(latest, text))}`);
		}
	}
	if (!last.error && last.items.length !== count) broken.push(`${last.items.length} outputs for ${count} items`);
	return broken;
}

/** @param isWarned whether a message says that items may have been written */
function brokenItemPromises(
	{ operation, dialect }: Scenario, { service, attempts, input }: Outcome, item: number, isWarned: boolean,
): string[] {
	const { text } = dialect.names;
	const broken: string[] = [];
	const last = attempts.at(-1)!;
	const values = input[item]!;
	const output = last.error ? undefined : last.items[item];
	const isDone = output !== undefined && !isFailure(output);
	const target = String(values.target);
	const effects = service.effects.filter((effect) =>
		operation === 'delete' ? effect.id === target : ownValue(effect.values, text) === ownValue(values, text),
	);
	if (operation !== 'delete') {
		if (isDone && effects.length === 0) broken.push(`item ${item} is reported as written, and was not`);
		const creations = effects.filter(({ kind }) => kind === 'create');
		for (const [attempt] of attempts.entries()) {
			if (creations.filter((creation) => creation.attempt === attempt).length > 1)
				broken.push(`item ${item} was written twice in attempt ${attempt}`);
		}
		const isGuaranteed = creations.every((creation) => creation.isGuaranteed);
		if (creations.length > 1 && (isGuaranteed || !isWarned)) broken.push(`item ${item} was written ${creations.length} times`);
		if (isDone && typeof output.id === 'string' && !effects.some(({ id }) => id === output.id)) {
			broken.push(`item ${item} is reported as ${String(output.id)}, and was written to another record`);
		}
		if (isDone && ownValue(output, text) !== undefined && ownValue(output, text) !== ownValue(values, text))
			broken.push(`item ${item} has the output of ${String(ownValue(output, text))}`);
	} else if (isDone && service.records.has(target)) {
		broken.push(`item ${item} is reported as deleted, and still exists`);
	}
	if (operation === 'update' && effects.some(({ id }) => id !== target)) broken.push(`item ${item} changed another record`);
	return broken;
}

const isFailure = (item: IDataObject): boolean => item.error !== undefined && item.details !== undefined;

function wordsOf(error: Error | undefined): string[] {
	if (!error) return [];
	const { description } = error as { description?: unknown };
	return [error.message, String(description ?? '')];
}
