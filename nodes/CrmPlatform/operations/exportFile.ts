import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { breaksRule, ruleNumber } from '../api/http/rules';
import { isWellFormed } from '../fields/fieldKinds';
import { allCustomFields } from '../fields/field';
import { readCustomFieldsIfAllowed } from '../api/customFields';
import { inParallel } from '../api/inParallel';
import { isAnsweredWith } from '../api/refusals';
import { sortKeysOf, unionOf } from '../api/lists/union';
import type { Query } from '../api/http/path';
import { jobQuery } from '../api/openapi/writing';
import { csvHeader, csvRow } from '../files/csvWriter';
import { writeParts } from '../files/binary';
import { reportNames } from '../files/fileRow';
import type { FileFormat } from '../files/rows';
import { queriesOf, readFilters } from '../mapping/filters';
import { collectionPath } from '../mapping/locator';
import { ItemWithFiles, type NodeRun, type Operation } from '../model';
import { booleanProperty, choiceProperty, chosenOption, numberProperty, textProperty } from '../parameters/properties';
import { delimiterOption, fileFormatProperty } from '../parameters/fileParameters';
import { exportListProperties, exportListOptions } from '../parameters/listParameters';
import { parseBoolean, parseWholeNumber } from '../values/parsers';
import { notationFor, type Region } from '../fields/readable';
import { exportColumns, exportedCells, forPeople, writableFieldsIn } from '../reading/exportColumns';
import { replaceIds, type IdReplacement } from '../lookUp/replaceIds';
import { listQueryOf, recordOutput, withNeededFields, type ListQuery } from '../reading/query';
import { areOutdatedJobs, forgetJobs, readJobResults, endReason, startBackgroundJob, waitForJob, type StartedJob } from '../writing/backgroundJob';
import { eachItem } from '../schedule';
import { describesFailure, problemOfItem } from '../api/http/problem';
import { requireDescribed } from '../api/requireDescribed';
import { keyDigest } from '../base/digest';
import { idText } from '../base/json';
import { wholeNumber } from '../base/numbers';

const formatProperty = fileFormatProperty(
	['csv', 'ndjson'],
	'In CSV, text that a spreadsheet would run as a formula gets an apostrophe in front; Import File removes it',
);

const outputFieldProperty = textProperty('Put Output File in Field', 'binaryField', {
	default: 'data',
	required: true,
	hint: 'The name of the output field to put the file in',
	builderHint: { propertyHint: 'For importFile, the input field that holds the file' },
});

const regionOption = choiceProperty('Dates and Numbers For', 'region', 'api', [
	['Any Program (2026-03-31, 1234.56)', 'api'],
	['Britain (31/03/2026, 1234.56)', 'britain'],
	['Continental Europe (31.03.2026, 1234,56)', 'europe'],
	['The United States (03/31/2026, 1234.56)', 'america'],
]);

const madeForOption = choiceProperty('Export For', 'madeFor', 'people', [
	['People', 'people', 'Labels, names of linked records, and lists as text in CSV; without technical fields'],
	['This Account', 'account', 'All fields by their API names, with IDs and JSON'],
	['Another Account', 'otherAccount', 'All fields by their API names, with a unique value of each linked record in place of its ID, such as the domain of a company'],
], { description: 'Who or what will read the file' });

export const exportFile: Operation = {
	option: {
		name: 'Export File',
		value: 'exportFile',
		action: 'Export records to file',
		description: 'Write records to a CSV or NDJSON file of any size',
	},

	properties: () => [outputFieldProperty, formatProperty, ...exportListProperties],
	options: [
		...exportListOptions,
		booleanProperty('Compress with Gzip', 'compress', true, 'Whether to compress the file', { noDataExpression: true }),
		delimiterOption,
		textProperty('File Name', 'fileName', { placeholder: 'e.g. contacts.csv' }),
		madeForOption,
		regionOption,
		numberProperty('Rows per File', 'rowsPerFile', 100000, {
			typeOptions: { minValue: 1 },
			description: 'Maximum records per file. Each file is an output item.',
		}),
	],
	output: null,
	isOnceForAll: true,

	async prepare(run) {
		const { list, fields } = await requireDescribed(run, 'list');
		const filters = await readFilters(run, 'filters', list);
		return eachItem(async (item) => {
			const path = collectionPath(run, item);
			const listQueryFor = async (query: Query) => await listQueryOf(run, item, { path, list, filters: query, fields, summary: [] });
			return await exportLists(run, item, await Promise.all(queriesOf(filters[item]!).map(listQueryFor)));
		});
	},
};

/** Exports the records of any of the lists, which differ in their filters only. */
async function exportLists(run: NodeRun, item: number, listQueries: ListQuery[]): Promise<ItemWithFiles[]> {
	const { n8n } = run;
	const plan = await exportPlan(run, item, listQueries[0]!);
	const { columns, listQuery, replacement } = plan;
	const order = sortKeysOf(listQuery.list, listQuery.query);
	const needed = listQueries.length > 1 ? order.map(({ field }) => field) : [];
	const changing = order.map(({ field }) => field).filter((field) => !['id', 'created_at', listQuery.list.created?.field].includes(field));
	if (changing.length > 0) {
		run.api.notices.add(`Sorted by ${changing.join(', ')}: a record that is changed during the export may be missing, or be there twice. Sort by the time of creation to prevent that.`);
	}
	const jobs = await startExports(run, item, listQueries.map(({ query }) => withNeededFields({ ...listQuery, query }, needed)));
	const asOutput = recordOutput(listQuery);
	let changedRows = 0;
	const rowOf = (record: IDataObject): string => {
		if (!columns) return `${JSON.stringify(asOutput(record))}\n`;
		const row = csvRow(exportedCells(record, columns), plan.delimiter);
		if (!row.includes('\0') && isWellFormed(row)) return row;
		changedRows += 1;
		return row.replaceAll('\0', '');
	};
	const lists = jobs.map((job) => exportedRecords(run, job, listQuery.recordFields.includes('id')));
	async function* allRecords(): AsyncGenerator<IDataObject[]> {
		try {
			yield* lists.length === 1 ? lists[0]! : unionOf(lists, order);
		} catch (error) {
			// The results are wrong or lost, unless a request failed.
			if (!(error instanceof NodeApiError) || isAnsweredWith(error, 404, 410)) forgetJobs(run, jobs);
			throw error as Error;
		}
	}
	async function* outputRows(): AsyncGenerator<string[]> {
		let rows = 0;
		for await (const records of allRecords()) {
			yield (replacement ? await replaceIds(run.api, replacement, records) : records).map(rowOf);
			rows += records.length;
			n8n.logger.info(`${n8n.getNode().name}: ${rows} records exported`);
		}
	}
	const files = await writeParts(n8n, plan.files, outputRows());
	if (changedRows > 0) {
		run.api.notices.add(
			`${changedRows} rows had NUL characters or halves of characters, which CSV cannot contain: the former were removed, the latter replaced by “\uFFFD”. To keep them, export NDJSON.`,
		);
	}
	return files.map(
		({ rows: records, file }, i) =>
			new ItemWithFiles({ records, part: i + 1, parts: files.length, job: jobs[0]!.id }, { [plan.field]: file }),
	);
}

/** The records of an export. @throws Error in the user's words if the service has not returned all of them, each once */
async function* exportedRecords(run: NodeRun, { path, total }: Export, haveIds: boolean): AsyncGenerator<IDataObject[]> {
	let rows = 0;
	// A repeated record comes soon after its first occurrence.
	let previousIds = new Set<string>();
	for await (const records of readJobResults(run, path, total)) {
		const ids = new Set<string>();
		for (const record of records) {
			const id = idText(record.id);
			if (id === undefined && describesFailure(record)) throw wrongExport(`contains an error instead of a record: ${problemOfItem(422, record).message}`);
			if (id === undefined && haveIds) throw wrongExport('contains a record without an ID');
			if (id === undefined) continue;
			if (ids.has(id) || previousIds.has(id)) throw wrongExport(`contains the record ${id} twice`);
			ids.add(id);
		}
		previousIds = ids;
		rows += records.length;
		yield records;
	}
	if (rows < total) throw wrongExport(`has only ${rows} of its ${total} records`);
}

const wrongExport = (problem: string): Error =>
	new Error(
		`The CRM’s export ${problem}, so the file would be wrong. ${breaksRule(20)} Run the export again; if this persists, report it to the CRM’s support.`,
	);

type Export = StartedJob & { total: number };

/** More may come from a service that calls every job an earlier one. */
const maxEarlierJobs = 50;

/**
 * Starts the jobs that collect the records, or finds those of an earlier attempt while they run, and waits for their ends.
 * All are of one attempt: of jobs of other times, none may have a record that came to match another filter meanwhile.
 */
async function startExports(run: NodeRun, item: number, listQueries: ListQuery[]): Promise<Export[]> {
	const start = async (earlier: number): Promise<StartedJob[]> => {
		const started = await inParallel(listQueries, async (listQuery) => await startExport(run, item, listQuery, earlier));
		// It may have failed, and its records may have changed since. An export writes nothing, so it may run again.
		if (!(await areOutdatedJobs(run, started))) return started;
		if (earlier < maxEarlierJobs) return await start(earlier + 1);
		throw new Error('This execution has started too many exports. Run the workflow again.');
	};
	const started = await start(0);
	return await inParallel(started, async (job) => {
		const ended = await waitForJob(run, item, job, started);
		const total = wholeNumber(ended.total);
		if (ended.status === 'completed' && total !== undefined) return { ...job, total };
		forgetJobs(run, started);
		throw new Error(
			`The export job ended without returning its records, or their number (${String(ended.status)}). ${endReason(ended) ?? 'Start it again.'}`,
		);
	});
}

/** @param earlier number of earlier jobs with the same records */
async function startExport(run: NodeRun, item: number, listQuery: ListQuery, earlier: number): Promise<StartedJob> {
	const { list: { job: description }, path, query } = listQuery;
	if (!description) {
		throw new Error(
			`The CRM’s API description does not say how ${run.resource.path} is exported (${ruleNumber(14)}). Use Get Many and Convert to File instead.`,
		);
	}
	const jobParameters = jobQuery(description, path);
	const conflictingFilter = Object.keys(query).find((name) => Object.hasOwn(jobParameters, name));
	if (conflictingFilter !== undefined) {
		throw new Error(`The CRM cannot filter an export by “${conflictingFilter}”. Remove the filter, or use Get Many.`);
	}
	const exported = { query: { ...query, ...jobParameters } };
	return await startBackgroundJob(run, description, exported, [item, keyDigest(JSON.stringify(exported)), earlier]);
}

/** How the records of a list become rows of a file. @throws Error in the user's words if a parameter is wrong */
async function exportPlan({ api, n8n, resource }: NodeRun, item: number, chosen: ListQuery) {
	const format = chosenOption<FileFormat>(n8n, item, formatProperty);
	const madeFor = chosenOption<'people' | 'account' | 'otherAccount'>(n8n, item, madeForOption, 'options.madeFor');
	const isForPeople = madeFor === 'people' && format === 'csv';
	const named = isForPeople ? 'names' : madeFor === 'otherAccount' ? 'uniqueValues' : undefined;
	const description = (await api.describe(resource.path)) ?? { fields: [], summary: [], recordActions: {} };
	const listQuery = isForPeople ? forPeople(chosen, description) : chosen;
	const hasCustom = listQuery.recordFields.includes(allCustomFields) && (format === 'csv' || named !== undefined);
	const custom = hasCustom ? await readCustomFieldsIfAllowed(api, listQuery.path) : undefined;
	const region = chosenOption<Region | 'api'>(n8n, item, regionOption, 'options.region');
	const notation = region === 'api' ? undefined : notationFor(region, n8n.getTimezone());
	const columns = format === 'csv' ? exportColumns(listQuery, description, custom, isForPeople ? reportNames : undefined, notation) : undefined;
	const chosenDelimiter = chosenOption(n8n, item, delimiterOption, 'options.delimiter');
	const delimiter = chosenDelimiter === 'auto' ? (region === 'europe' ? ';' : ',') : chosenDelimiter;
	const replacement: IdReplacement | undefined = named && { fields: writableFieldsIn(description, custom), by: named, cache: new Map() };
	return {
		listQuery,
		columns,
		delimiter,
		replacement,
		field: String(n8n.getNodeParameter('binaryField', item, 'data')),
		files: {
			name: String(n8n.getNodeParameter('options.fileName', item, '') ?? '').trim() || `${resource.path.split('/').at(-1)}.${format}`,
			type: columns ? 'text/csv' : 'application/x-ndjson',
			isCompressed: parseBoolean('Compress with Gzip', n8n.getNodeParameter('options.compress', item, false)),
			header: columns ? csvHeader(columns.map(({ header }) => header), delimiter) : '',
			rowsPerFile: parseWholeNumber('Rows per File', n8n.getNodeParameter('options.rowsPerFile', item, null), { min: 1, otherwise: Infinity }),
		},
	};
}
