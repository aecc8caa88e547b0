import type { IBinaryData, IDataObject, INodeProperties } from 'n8n-workflow';

import { readCustomFieldsIfAllowed } from '../api/customFields';
import type { Query } from '../api/http/path';
import { jobQuery } from '../api/openapi/jobs';
import { outputFile } from '../files/binary';
import { csvRow } from '../files/csvWriter';
import { ItemWithFiles } from '../files/itemWithFiles';
import { valueAt } from '../mapping/expressions/template';
import { readFilters } from '../mapping/filters';
import { collectionPath } from '../mapping/locator';
import type { Execution, Operation } from '../model';
import { noChoice } from '../parameters/file';
import { exportListProperties, exportListOptions } from '../parameters/list';
import { listQueryOf, recordOutput, withNeededFields, type ListQuery } from '../reading/query';
import { readJobResults, startBackgroundJob, waitForJob } from '../writing/backgroundJob';
import { describedOperation } from '../writing/describedOperation';

const formats = ['csv', 'ndjson'] as const;

const formatProperty: INodeProperties = {
	displayName: 'File Format',
	name: 'fileFormat',
	type: 'options',
	options: [
		{ name: 'CSV', value: 'csv', description: 'A table, for people and spreadsheets' },
		{ name: 'NDJSON', value: 'ndjson', description: 'One record a line, as the service has it' },
	],
	default: 'csv',
	description:
		'The format of the file. In CSV, text that a spreadsheet would run as a formula gets an apostrophe in front; Import File removes it.',
};

const headersOption: INodeProperties = {
	displayName: 'Column Headers',
	name: 'columnHeaders',
	type: 'options',
	options: [
		{ name: 'Labels', value: 'labels', description: 'For people, such as First Name' },
		{ name: 'Names', value: 'names', description: 'For programs, such as first_name' },
	],
	default: 'names',
	description: 'How the columns of a CSV file are called. Import File understands both.',
};

const fileNameOption: INodeProperties = {
	displayName: 'File Name',
	name: 'fileName',
	type: 'string',
	default: '',
	placeholder: 'e.g. contacts.csv',
};

const outputFieldProperty: INodeProperties = {
	displayName: 'Put File in Field',
	name: 'binaryField',
	type: 'string',
	default: 'data',
	required: true,
	hint: 'The name of the output field to put the file in',
};

/** @param action the entry in n8n's list of actions, such as `Export contacts to a file` */
export function exportFile(action: string): Operation {
	return {
		option: {
			name: 'Export File',
			value: 'exportFile',
			action,
			description: 'Put a list of records, filtered and sorted, into a CSV or JSON file of any size',
		},

		properties: (resource) => [formatProperty, outputFieldProperty, ...exportListProperties(resource)],
		options: [...exportListOptions, headersOption, fileNameOption],
		output: null,

		async prepare(job) {
			const list = await describedOperation(job, 'list');
			const fields = await describedOperation(job, 'fields');
			const filters = await readFilters(job, 'filters', list);
			return async (item) => {
				const path = collectionPath(job, item);
				const query = filters(item) as Query;
				const reading = listQueryOf(job, item, { path, list, filters: query, fields, summary: [] });
				return await exportList(job, item, reading);
			};
		},
	};
}

async function exportList(job: Execution, item: number, reading: ListQuery): Promise<ItemWithFiles> {
	const { n8n, resource } = job;
	const description = reading.list.job;
	if (!description) {
		throw new Error(
			`The service’s description does not say how ${resource.path} is exported. Read the list with Get Many, and write it with Convert to File.`,
		);
	}
	const format = n8n.getNodeParameter('fileFormat', item, 'csv') as (typeof formats)[number];
	if (!formats.includes(format)) throw noChoice('File Format', format, formats);
	const started = jobQuery(description, reading.path);
	const { query } = withNeededFields(reading);
	const taken = Object.keys(query).find((name) => Object.hasOwn(started, name));
	if (taken !== undefined) {
		throw new Error(`The service cannot filter an export by ‘${taken}’. Remove the filter, or use Get Many.`);
	}
	const columns = format === 'csv' ? await columnsOf(job, item, reading) : undefined;

	const { id, path } = await startBackgroundJob(job, description, { query: { ...query, ...started } }, [item]);
	const ended = await waitForJob(job, item, path);
	if (ended.status !== 'completed') {
		throw new Error(
			`The export has ended without its records (${String(ended.status)}). ${String(ended.error ?? 'Start it again.')}`,
		);
	}

	const type = columns ? 'text/csv' : 'application/x-ndjson';
	const given = String(n8n.getNodeParameter('options.fileName', item, '') ?? '').trim();
	const file = outputFile(n8n, given || `${resource.value}.${format}`, type);
	const asOutput = recordOutput(reading);
	let rows = 0;
	let stored: IBinaryData | undefined;
	try {
		// The mark tells spreadsheets that the file is UTF-8.
		if (columns) await file.write(`\uFEFF${csvRow(columns.map(({ header }) => header))}`);
		for await (const records of readJobResults(job, path)) {
			for (const record of records) {
				rows += 1;
				await file.write(columns ? csvRow(cellsOf(record, columns)) : `${JSON.stringify(asOutput(record))}\n`);
			}
			n8n.logger.info(`${n8n.getNode().name}: ${rows} of ${String(ended.total)} records exported`);
		}
		stored = await file.end();
	} finally {
		if (!stored) await file.end().catch(() => undefined);
	}
	const field = String(n8n.getNodeParameter('binaryField', item, 'data'));
	return new ItemWithFiles({ records: rows, job: id }, { [field]: stored });
}

/** A column of the file, and where its value is in a record. */
interface Column {
	header: string;
	path: [string, ...string[]];
}

/**
 * The chosen fields, or all of the record: members of objects that can be written one by one, such as
 * an address, and the account's custom fields have columns of their own.
 */
async function columnsOf({ api, n8n, resource }: Execution, item: number, reading: ListQuery): Promise<Column[]> {
	const description = await api.describe(resource.path);
	const writable = [description?.create, description?.update].flatMap((write) => write?.fields ?? []);
	const recordFields = description?.fields ?? [];
	const custom = reading.recordFields.includes('custom_fields')
		? await readCustomFieldsIfAllowed(api, reading.path)
		: undefined;
	const parts = (name: string) => [...writable, ...(custom?.fields ?? [])].filter(({ path }) => path[0] === name && path.length > 1);
	const labels = new Map([...recordFields, ...writable, ...(custom?.fields ?? [])].map(({ name, label }) => [name, label]));

	const columns = new Map<string, Column['path']>();
	const add = (name: string, path: Column['path']) => columns.set(name, path);
	for (const { name, path } of reading.fields ?? reading.recordFields.map((one) => ({ name: one, path: [one] as Column['path'] }))) {
		const members = path.length === 1 ? parts(name) : [];
		if (members.length === 0) add(name, path);
		for (const member of members) add(member.name, member.path as Column['path']);
		if (name === 'custom_fields') for (const one of custom?.readOnly ?? []) add(one, ['custom_fields', one.slice('custom_fields.'.length)]);
	}
	const isLabelled = n8n.getNodeParameter('options.columnHeaders', item, 'names') === 'labels';
	const named = [...columns].map(([name, path]) => ({ name, path, label: labels.get(name) ?? name }));
	const uses = (label: string) => named.filter((one) => one.label === label).length;
	return named.map(({ name, path, label }) => ({ path, header: isLabelled && uses(label) === 1 ? label : name }));
}

const cellsOf = (record: IDataObject, columns: Column[]): unknown[] =>
	columns.map(({ path }) => (path.length === 1 ? record[path[0]] : valueAt(record, path)[0]));
