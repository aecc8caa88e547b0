import { ruleNumber } from '../api/http/rules';
import type { Collection } from '../api/http/path';
import { customFieldPrefix, idField } from '../fields/field';
import { jobQuery } from '../api/openapi/writing';
import { fileField, readBinary } from '../files/binary';
import { readFileRecords } from '../files/rows';
import { readCustomFieldsIfAllowed } from '../api/customFields';
import { collectionPath } from '../mapping/locator';
import { ItemWithFiles, type NodeRun, type Operation } from '../model';
import { chosenOption } from '../parameters/properties';
import { emptyCells } from '../parameters/fieldParameters';
import {
	binaryFieldProperty, fileSettingsOf, importAsProperty, importOptions, importProperties, mappedColumns, refusedValuesOption, repeatedRowsOption,
} from '../parameters/fileParameters';
import { parsePreview } from '../values/parsers';
import { surveyFile } from '../importing/fileSurvey';
import { planColumns } from '../importing/importColumns';
import { importRows } from '../importing/importRows';
import { requireMatchField, chosenMatchField } from '../writing/matchOn';
import { RecordCreator } from '../writing/recordCreator';
import { writeOncePerOption } from '../parameters/outputParameters';
import type { ImportPlan } from '../importing/importPlan';
import { eachItem } from '../schedule';

export const importFile: Operation = {
	option: {
		name: 'Import File',
		value: 'importFile',
		action: 'Import records from file',
		description: 'Create, update or delete a record for each row of a file',
	},

	properties: () => importProperties,
	// The keys of jobs contain Write Once Per, so that an execution finds the jobs of another one that died.
	options: [...importOptions, writeOncePerOption],
	output: null,
	describedWrite: ({ upsert, create }) => upsert ?? create,

	async prepare(run) {
		return eachItem(async (item) => {
			const { n8n } = run;
			const field = fileField(n8n, item, binaryFieldProperty);
			const { fileName } = n8n.getInputData()[item]!.binary![field]!;
			const plan = { ...(await planOf(run, item)), ...(fileName !== undefined && { fileName }) };
			const settings = fileSettingsOf(n8n, item);
			const open = async () => await readFileRecords(readBinary(n8n, item, field), settings);
			const columns = await planColumns(run, plan, mappedColumns(n8n, item), await surveyFile(n8n, await open()));
			const { json, files } = await importRows(run, { ...plan, columns }, await open());
			return new ItemWithFiles(json, files);
		});
	},
};

/**
 * @param decided what becomes of the rows, if the user does not choose it, and what an earlier plan of them creates
 * @throws Error in the user's words if the service does not offer the import, or if a parameter is wrong
 */
export async function planOf(
	run: NodeRun,
	item: number,
	decided?: Pick<ImportPlan, 'operation' | 'matchOn'> & Partial<Pick<ImportPlan, 'missing'>>,
): Promise<Omit<ImportPlan, 'columns'>> {
	const { n8n, resource } = run;
	const operation = decided?.operation ?? chosenOption<ImportPlan['operation']>(n8n, item, importAsProperty);
	const write = (await run.api.describe(resource.path))?.[operation];
	run.api.requireDescription('Import File');
	if (!write?.job) {
		throw new Error(
			`The CRM’s API description does not say how files are imported for ${resource.path} (${operation}; ${ruleNumber(14)}). Read the file with Extract from File, and write its rows with the node’s other operations.`,
		);
	}
	const path = collectionPath(run, item);
	const isPreview = parsePreview(n8n.getNodeParameter('preview', item, true));
	const { match } = write.job;
	const chosenField = decided || operation !== 'upsert' ? undefined : requireMatchField(run, match, chosenMatchField(run, 'matchOn', item));
	const matchOn = decided ? decided.matchOn : chosenField;
	if (matchOn?.startsWith(customFieldPrefix)) await refuseRepeatable(run, path, matchOn);
	return {
		missing: decided?.missing ?? (await RecordCreator.forImport(run, isPreview)),
		item,
		operation,
		description: write.job,
		fields: operation === 'delete' ? [idField] : operation === 'update' ? [idField, ...write.fields.filter(({ name }) => name !== 'id')] : write.fields,
		isPreview,
		path,
		query: { ...jobQuery(write.job, path), ...(match && matchOn !== undefined && { [match.name]: matchOn }) },
		...(matchOn !== undefined && { matchOn }),
		leavesOut: chosenOption(n8n, item, refusedValuesOption, 'options.refusedValues') === 'leaveOut',
		refusesRepeated: chosenOption(n8n, item, repeatedRowsOption, 'options.repeatedRows') === 'refuse',
		clearsEmpty: chosenOption(n8n, item, emptyCells, 'options.emptyCells') === 'clear',
	};
}

/** @throws Error in the user's words for a custom field whose values need not be unique */
async function refuseRepeatable({ api }: NodeRun, path: Collection, matchOn: string): Promise<void> {
	const custom = await readCustomFieldsIfAllowed(api, path);
	const field = custom?.fields.find(({ name }) => name === matchOn);
	if (field?.unique === false) {
		throw new Error(`Match On: several records may have the same ${field.label}, so nothing was sent. Choose a field that is unique.`);
	}
}
