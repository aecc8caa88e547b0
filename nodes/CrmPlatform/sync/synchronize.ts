import { NodeApiError, type IDataObject, type IExecuteFunctions, type INodeExecutionData, type NodeOperationError } from 'n8n-workflow';

import { connect } from '../api/connection';
import type { Field } from '../api/openapi/fields';
import type { Execution } from '../model';
import { describedOperation } from '../writing/describedOperation';
import { claimsOf, refuseDuplicates } from './claims';
import { comparison, matchKey, mergePatch, valueIn } from './compare';
import { guardDeletions } from './guards';
import { nodeErrorOf, outputNames, outputOf, type SyncFailure } from './output';
import { planChanges, refused, type CrmIndex, type CrmRecord, type PlannedChange } from './plan';
import { countRecords, findRecords, inWholeList, readWhole, type Collection, type Found } from './readRecords';
import { idField, settingsOf, syncJob, type SyncSettings } from './settings';
import { readSource, type Source } from './source';
import { writeAll, type RecordWrite, type WriteResult } from './writeChanges';

/**
 * Keeps records of the CRM in step with the input items: reads what it has to, plans all changes, and
 * makes them unless it is a preview.
 *
 * @returns the items of each output
 * @throws NodeApiError or NodeOperationError where the CRM cannot be read (nothing is written then), and
 * for the first record that fails, unless the node is set to continue on fail
 */
export async function synchronize(n8n: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	if (n8n.getInputData().length === 0) return outputNames.map(() => []);
	const api = await connect(n8n);
	const job = syncJob(n8n, api);
	try {
		return await run(job);
	} catch (error) {
		throw nodeErrorOf(n8n, error as Error, undefined);
	}
}

async function run(job: Execution): Promise<INodeExecutionData[][]> {
	const { n8n, api } = job;
	const sync = await settingsOf(job);
	const source = readSource(job, sync.read, sync.sourceFields);
	if (source.failures[0] && !n8n.continueOnFail()) {
		const { item, error } = source.failures[0];
		throw withLines(nodeErrorOf(n8n, error, item), ['Nothing was written.', ...api.notices]);
	}

	const collection = { ...sync.collection, fields: neededFields(sync, source) };
	const planned = await plan(job, { ...sync, collection }, source);
	const isPreview = n8n.getNodeParameter('preview', 0, false) === true;
	const { done, failures, untried } = isPreview
		? { done: planned, failures: [], untried: 0 }
		: await write(job, collection, planned);
	if (isPreview) api.notices.add('Preview: nothing was written. Turn off Preview to write these changes.');

	const [first] = failures;
	if (first && !n8n.continueOnFail()) {
		const summary = `${done.length} records are done, ${failures.length} failed and ${untried} were not tried. The next run goes on with what is left.`;
		throw withLines(nodeErrorOf(n8n, first.error, first.item), [summary, ...api.notices]);
	}
	for (const message of api.notices) n8n.addExecutionHints({ message, location: 'outputPane' });
	return outputOf(n8n, done, [...source.failures, ...failures], new Set(collection.fields));
}

/** The fields that are read of each record: what is compared, what it is found by, and its version. */
function neededFields({ match, rules, recordFields }: SyncSettings, { records }: Source): string[] {
	const names = new Set(['id', 'version', 'updated_at', ...match.map(({ path: [name = ''] }) => name)]);
	for (const { values } of records) for (const name of Object.keys(values)) names.add(name);
	for (const name of Object.keys(rules.missingValues ?? {})) names.add(name);
	const isKnown = (name: string) => name === 'id' || recordFields.size === 0 || recordFields.has(name);
	return [...names].filter(isKnown);
}

/** Reads, plans and guards. Nothing is written. */
async function plan(job: Execution, sync: SyncSettings, source: Source): Promise<PlannedChange[]> {
	const { n8n, api } = job;
	const { collection, scope, rules, fields, match, unique } = sync;
	const isWhole = rules.missingInSource !== 'leave';
	const isScoped = Object.keys(scope).length > 0;
	const wanted = source.records.flatMap(({ values, keys, item }) =>
		match.flatMap((field, i) => {
			const key = keys[i];
			const value = field === idField ? key : valueIn(values, field);
			return key === undefined ? [] : [{ field, key, value, item }];
		}),
	);
	const counted = isWhole ? await countRecords(collection, scope) : undefined;
	const found: Found = isWhole
		? inWholeList(await readWhole(collection, scope), isScoped)
		: await findRecords(collection, wanted, scope);

	const compare = comparison(fields);
	const proposed = planChanges(source.records, indexOf(found.records, match), {
		rules,
		matchLabels: match.map(({ label }) => label),
		compare,
		versionOf: ({ version }) => (version === undefined || version === null ? undefined : String(version)),
		changedAtOf: ({ updated_at: time }) => (typeof time === 'string' ? Date.parse(time) : undefined),
	});
	const allowed = await withoutDuplicates(sync, proposed, found, unique);
	const { planned, reason } = guardDeletions(
		allowed,
		{
			share: Number(n8n.getNodeParameter('mostDeletionsShare', 0, 10)),
			number: Number(n8n.getNodeParameter('mostDeletions', 0, 100)),
		},
		{
			inScope: found.records.length,
			counted,
			inSource: source.records.length,
			unknown: source.failures.length,
		},
	);
	if (reason !== undefined) api.notices.add(reason);
	return planned;
}

function indexOf(records: CrmRecord[], match: Field[]): CrmIndex {
	const indexes = match.map((field) => {
		const index = new Map<string, CrmRecord[]>();
		for (const record of records) {
			const key = matchKey(field, valueIn(record, field));
			if (key === undefined) continue;
			const same = index.get(key);
			if (same) same.push(record);
			else index.set(key, [record]);
		}
		return index;
	});
	return { records, find: (field, key) => indexes[field]?.get(key) ?? [] };
}

/** Refuses changes to unique values that other records have, also those out of scope. */
async function withoutDuplicates(
	{ collection }: SyncSettings,
	planned: PlannedChange[],
	found: Found,
	unique: Field[],
): Promise<PlannedChange[]> {
	const claims = claimsOf(planned, unique);
	const unknown = claims.filter(({ field, key }) => found.holdersOf(field, key) === undefined);
	const filterable = unknown.filter(({ field }) =>
		collection.filters.some(({ name }) => name === field.name),
	);
	const others =
		filterable.length === 0
			? undefined
			: await findRecords({ ...collection, fields: filterable.map(({ field }) => field.path[0] ?? '') }, filterable);
	return refuseDuplicates(planned, claims, {
		of: (field, key) => found.holdersOf(field, key) ?? others?.holdersOf(field, key) ?? [],
	});
}

/** Makes the planned changes: updates, then new records, then deletions. */
async function write(job: Execution, collection: Collection, planned: PlannedChange[]) {
	const done = new Map<number, PlannedChange>();
	const failures: SyncFailure[] = [];
	let untried = 0;
	let count = 0;
	const isWanted = () =>
		!job.n8n.getExecutionCancelSignal()?.aborted && (failures.length === 0 || job.n8n.continueOnFail());

	for (const action of ['update', 'create', 'delete'] as const) {
		const places = [...planned.keys()].filter((place) => planned[place]!.action === action);
		if (places.length === 0) continue;
		if (!isWanted()) {
			untried += places.length;
			continue;
		}
		const description = await describedOperation(job, action);
		const writes = places.map((place) => writeOf(planned[place]!));
		const isGoing = (results: Array<WriteResult | undefined>) =>
			!job.n8n.getExecutionCancelSignal()?.aborted &&
			(job.n8n.continueOnFail() || results.every((result) => !isFailure(result)));
		const results = await writeAll(job, description, collection.path, writes, () => count++, isGoing);
		for (const [i, place] of places.entries()) {
			const change = planned[place]!;
			const result = results[i];
			if (!result) untried += 1;
			else if ('record' in result) done.set(place, written(change, result.record));
			else {
				const reason = conflictIn(result.error);
				if (reason === undefined) failures.push({ item: change.item, error: result.error });
				else done.set(place, refused(change, reason));
			}
		}
	}
	for (const [place, change] of planned.entries()) {
		if (change.action === 'unchanged' || change.action === 'conflict') done.set(place, change);
	}
	const inOrder = [...done].sort(([one], [other]) => one - other).map(([, change]) => change);
	return { done: inOrder, failures, untried };
}

const isFailure = (result: WriteResult | undefined): boolean =>
	result !== undefined && 'error' in result && conflictIn(result.error) === undefined;

function writeOf({ record, patch }: PlannedChange): RecordWrite {
	const result: RecordWrite = {};
	if (record) result.id = record.id;
	if (record && (typeof record.version === 'number' || typeof record.version === 'string')) {
		result.version = record.version;
	}
	if (patch) result.body = patch;
	return result;
}

/** The change as it was made: a service that keeps the version has stored these values before. */
function written(change: PlannedChange, answered: IDataObject): PlannedChange {
	const { patch = {}, ...made } = change;
	if (change.action === 'delete') return change;
	const record = { ...mergePatch(change.record ?? {}, patch), ...answered } as CrmRecord;
	const version = change.record?.version;
	if (version === undefined || version !== answered.version) return { ...made, record };
	return { ...made, record, action: 'unchanged', reason: storedAlready };
}

/** Why the CRM refused a change that it would have taken when it was planned; undefined for errors. */
function conflictIn(error: Error): string | undefined {
	if (!(error instanceof NodeApiError)) return undefined;
	switch (error.httpCode) {
		case '412':
			return changedMeanwhile;
		case '404':
		case '410':
			return deletedMeanwhile;
		case '409':
			return `The CRM refuses the change: ${error.message}`;
		default:
			return undefined;
	}
}

const storedAlready = 'The CRM stores these values in another notation; it had them already.';
const changedMeanwhile = 'The CRM’s record was changed after this run had read it. Nothing was overwritten.';
const deletedMeanwhile = 'The CRM’s record was deleted after this run had read it.';

/** The failure with more lines: n8n drops the hints of a node that fails. */
function withLines<Failure extends NodeApiError | NodeOperationError>(failure: Failure, lines: string[]): Failure {
	failure.description = [failure.description, ...lines].filter(Boolean).join('\n');
	return failure;
}
