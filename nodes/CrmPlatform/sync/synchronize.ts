import type { IExecuteFunctions, INodeExecutionData, NodeApiError, NodeOperationError } from 'n8n-workflow';

import { connect } from '../api/connection';
import type { Field } from '../api/openapi/fields';
import type { Execution } from '../model';
import { applyPlan } from './applyPlan';
import { claimsOf, refuseDuplicates } from './claims';
import { comparison, matchKey, valueIn } from './compare';
import { guardDeletions } from './guards';
import { nodeErrorOf, outputNames, outputOf } from './output';
import type { CrmIndex, CrmRecord } from './matching';
import { planChanges, type PlannedChange } from './plan';
import { countRecords, findRecords, inWholeList, readWhole, type Found } from './readRecords';
import { idField, settingsOf, syncJob, type SyncSettings } from './settings';
import { readSource, type Source } from './source';

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
	const { planned, unread, collection } = await prepare(job);
	const isPreview = n8n.getNodeParameter('preview', 0, false) === true;
	const { done, failures, untried } = isPreview
		? { done: planned, failures: [], untried: 0 }
		: await applyPlan(job, collection, planned);
	if (isPreview) api.notices.add('Preview: nothing was written. Turn off Preview to write these changes.');

	const [first] = failures;
	if (first && !n8n.continueOnFail()) {
		const summary = `${done.length} records are done, ${failures.length} failed and ${untried} were not tried. The next run goes on with what is left.`;
		throw withLines(nodeErrorOf(n8n, first.error, first.item), [summary, ...api.notices]);
	}
	for (const message of api.notices) n8n.addExecutionHints({ message, location: 'outputPane' });
	return outputOf(n8n, done, [...unread, ...failures], new Set(collection.fields));
}

/**
 * Reads the input items and the CRM, and plans. A function of its own so that the values of the items are
 * garbage while the plan is carried out: of 100,000 they take as much memory as the records.
 */
async function prepare(job: Execution) {
	const { n8n, api } = job;
	const sync = await settingsOf(job);
	const source = readSource(job, sync.read, sync.sourceFields);
	const [first] = source.failures;
	if (first && !n8n.continueOnFail()) {
		const lines = ['Nothing was written.', ...api.notices];
		throw withLines(nodeErrorOf(n8n, first.error, first.item), lines);
	}
	const collection = { ...sync.collection, fields: neededFields(sync, source) };
	const planned = await plan(job, { ...sync, collection }, source);
	return { planned, unread: source.failures, collection };
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

/** The failure with more lines: n8n drops the hints of a node that fails. */
function withLines<Failure extends NodeApiError | NodeOperationError>(failure: Failure, lines: string[]): Failure {
	failure.description = [failure.description, ...lines].filter(Boolean).join('\n');
	return failure;
}
