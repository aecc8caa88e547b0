import type { IDataObject } from 'n8n-workflow';

import type { Field } from '../fields/field';
import { valueShape } from '../fields/fieldKinds';
import { readParts } from '../lookUp/recordParts';
import type { ModelArguments } from './modelArguments';
import { fieldsOfRecordType, matchByName } from './toolFields';
import { toolFiltersOf } from './toolFilters';
import { toolDescription, type ToolRun } from './toolRun';
import type { ToolAnswer } from './readingTools';
import { actionsOf, allowedChanges, type RecordType } from './toolSettings';

/** Maximum number of choices listed per field; `field` returns all of them. */
const maxChoices = 12;

/**
 * Describes a record type: the permitted actions first, then one row per field, so that a shortened answer
 * still has complete rows. A prefix such as `custom_fields.x` returns the fields that were left out.
 */
export async function describeTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const fields = await fieldsOfRecordType(run, recordType);
	const fieldName = args.text('field');
	const matchingFields = fieldName === undefined ? fields : fields.filter(({ name }) => name.startsWith(fieldName));
	const isBeginning = fieldName !== undefined && matchingFields.length > 1 && !matchingFields.some(({ name }) => name === fieldName);
	if (fieldName !== undefined && !isBeginning) {
		return { data: [await fieldDetails(run, matchByName(fields, fieldName, 'field'))], notes: [] };
	}
	const describing = matchingFields.map(async (field): Promise<IDataObject> => ({ [field.name]: await describeField(run, field) }));
	const rows = await Promise.all(describing);
	const data = isBeginning ? rows : [await describeRecordType(run, recordType, fields), ...rows];
	const isCut = JSON.stringify(data).length > run.settings.maxLength;
	return { data, notes: isCut ? ['To see the other fields, send the beginning of their names as field.'] : [] };
}

async function describeRecordType(run: ToolRun, recordType: RecordType, fields: Field[]): Promise<IDataObject> {
	const { list, upsert } = await toolDescription(run, recordType);
	const filters = list ? (await toolFiltersOf(run, recordType, list)).map(({ name }) => name) : [];
	// Writable fields are listed above; the rest is read-only.
	const others = filters.filter((name) => name !== list?.search && !fields.some((field) => field.name === name));
	const { verbs } = run.settings;
	return {
		kind: recordType.name,
		changes: allowedChanges(verbs, recordType).join(', ') || 'none',
		actions: actionNames(recordType, run),
		...(verbs.has('upsert') && upsert?.match && { match_on: upsert.match.values.join(', ') }),
		fields: fields.length,
		filters: `these fields, and ${others.join(', ')}`,
	};
}

const actionNames = (recordType: RecordType, { settings }: ToolRun): string =>
	actionsOf(recordType, settings.verbs).map(({ option }) => option.value).join(', ') || 'none';

async function choicesOf({ api }: ToolRun, { choices, collection, part }: Field): Promise<string[]> {
	if (choices) return choices.map(({ value }) => String(value));
	if (collection === undefined || part === undefined) return [];
	const parts = await readParts(api, collection, part).catch(() => []);
	return [...new Set(parts.map(({ name }) => name))];
}

async function describeField(run: ToolRun, field: Field): Promise<string> {
	const choices = await choicesOf(run, field);
	const more = choices.length > maxChoices ? `|… ${choices.length - maxChoices} more` : '';
	const choicesText = choices.slice(0, maxChoices).join('|') + more;
	const valueDescription = choicesText || describeValue(field);
	const isList = valueShape(field) === 'list';
	const description = isList ? `list of ${valueDescription.replace(/^list$/, 'texts')}` : valueDescription;
	return field.required ? `${description}, required` : description;
}

function describeValue({ collection, linksTo, kind }: Field): string {
	if (collection !== undefined) return `name or id (${collection})`;
	return linksTo ? `[{resource: ${linksTo.join('|')}, id}]` : kind;
}

async function fieldDetails(run: ToolRun, field: Field): Promise<IDataObject> {
	const { name, label, kind, description, required, collection, maxLength, unique } = field;
	const choices = await choicesOf(run, field);
	const facts = {
		name,
		label,
		kind,
		description,
		required,
		unique,
		names_of: collection,
		max_length: maxLength,
		choices: choices.length > 0 ? choices : undefined,
	};
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined && value !== ''));
}
