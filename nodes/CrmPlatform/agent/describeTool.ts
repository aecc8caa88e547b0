import type { IDataObject } from 'n8n-workflow';

import type { Field } from '../fields/field';
import { readParts } from '../mapping/recordParts';
import type { ToolArgs } from './toolArgs';
import { fieldsOfKind, meantBy } from './toolFields';
import { toolFiltersOf } from './toolFilters';
import { toolDescription, type ToolRun } from './toolRun';
import type { ToolAnswer } from './readingTools';
import { actionsOf, allowedChanges, type ToolKind } from './toolSettings';

/** Choices that are named beside a field; `field` gives all of them. */
const maxChoices = 12;

export async function describeTool(run: ToolRun, args: ToolArgs): Promise<ToolAnswer> {
	const kind = args.kind();
	const fields = await fieldsOfKind(run, kind);
	const wanted = args.text('field');
	if (wanted !== undefined) return { data: [await wholeField(run, meantBy(fields, wanted, 'field'))], notes: [] };
	const { list, upsert } = await toolDescription(run, kind);
	const words = await Promise.all(fields.map(async (field) => [field.name, await fieldInWords(run, field)]));
	const filters = list ? (await toolFiltersOf(run, kind, list)).map(({ name }) => name) : [];
	// Named already: those that are only read are left.
	const others = filters.filter((name) => name !== list?.search && !fields.some((field) => field.name === name));
	const { settings } = run;
	const description: IDataObject = {
		kind: kind.name,
		fields: Object.fromEntries(words) as IDataObject,
		filters: `these fields, and ${others.join(', ')}`,
		...(settings.verbs.has('upsert') && upsert?.match && { match_on: upsert.match.values.join(', ') }),
		changes: allowedChanges(settings.verbs, kind).join(', ') || 'none',
		actions: actionsFor(kind, run),
	};
	return { data: [description], notes: [] };
}

const actionsFor = (kind: ToolKind, { settings }: ToolRun): string => actionsOf(kind, settings.verbs).map(({ option }) => option.value).join(', ') || 'none';

async function choicesOf({ api }: ToolRun, { choices, reference, part }: Field): Promise<string[]> {
	if (choices) return choices.map(({ value }) => String(value));
	if (reference === undefined || part === undefined) return [];
	const parts = await readParts(api, reference, part).catch(() => []);
	return [...new Set(parts.map(({ name }) => name))];
}

async function fieldInWords(run: ToolRun, field: Field): Promise<string> {
	const choices = await choicesOf(run, field);
	const shown = choices.slice(0, maxChoices).join('|') + (choices.length > maxChoices ? `|… ${choices.length - maxChoices} more` : '');
	const what = shown || (field.reference !== undefined ? `name or id (${field.reference})` : field.linksTo ? `[{resource: ${field.linksTo.join('|')}, id}]` : field.kind);
	const parts = [field.kind === 'list' ? `list of ${what.replace(/^list$/, 'texts')}` : what, ...(field.required ? ['required'] : [])];
	return parts.join(', ');
}

async function wholeField(run: ToolRun, field: Field): Promise<IDataObject> {
	const { name, label, kind, description, required, reference, maxLength, unique } = field;
	const choices = await choicesOf(run, field);
	const facts = { name, label, kind, description, required, unique, names_of: reference, longest: maxLength, choices: choices.length > 0 ? choices : undefined };
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined && value !== ''));
}
