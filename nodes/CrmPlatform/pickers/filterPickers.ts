import { isExpression, type ILoadOptionsFunctions, type INodePropertyOptions } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { valueShape } from '../fields/fieldKinds';
import {
	type FilteredField, filteredFields, type FilterOperator, filterOperators, hasTypedOperators, isFilteredLink, isInstant, operatorsOf,
} from '../api/openapi/filterOperators';
import { choiceOptions, editorContext, type EditorContext, filtersOf, linkOptionsOf, optionsOf } from './editorContext';

export async function getFilterFields(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const fields = await offeredFields(n8n, await editorContext(n8n));
	return [{ name: 'Choose a Field', value: '' }, ...optionsOf(fields)];
}

/** The operators that the field in the same row allows; all operators if the field is not known yet. */
export async function getFilterOperators(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const context = await editorContext(n8n);
	const field = await chosenField(n8n, context);
	// Some have the same name but a different input.
	const isFirst = ({ name }: FilterOperator, i: number) => filterOperators.findIndex((other) => other.name === name) === i;
	if (!field) return filterOperators.filter(isFirst).map(({ name, value }) => ({ name, value }));
	const hasChoices = (await filterChoices(context.api, field)).length > 0;
	const isSearch = field.name === context.description.list?.search;
	const offered = operatorsOf(field).filter(({ value }) => value !== (hasChoices ? 'isOneOf' : 'isOneOfChoices'));
	// Nobody filters by exact times, and true and false have their own operators.
	const isTyped = hasTypedOperators(field) && offered.length > 1;
	const options = offered
		.filter(({ value }) => !(isTyped && value === 'is'))
		.map((operator) => option(operator, field, isSearch));
	// A row begins with this value, and n8n marks a value that is not listed as wrong.
	const isListed = options.some(({ value }) => value === 'is');
	return isListed ? options : [{ name: 'Choose an Operator', value: 'is' }, ...options];
}

/** The values of the field in the same row, if there are few. */
export async function getFilterChoices(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const context = await editorContext(n8n);
	const field = await chosenField(n8n, context);
	return field ? await filterChoices(context.api, field) : [];
}

function option({ name, value, filters }: FilterOperator, field: FilteredField, isSearch: boolean): INodePropertyOptions {
	const baseOption = { name: isSearch ? 'Matches' : name, value };
	const [first, ...others] = filters;
	const [comparison, comparedValue] = first ?? [];
	const description = comparison && field.filters.get(comparison)?.description;
	// The service's description says whether case matters; it does not apply to a whole day or a constant.
	const applies = comparedValue === 'first' && others.length === 0 && !isInstant(field) && !isFilteredLink(field);
	const choices = value === 'is' && field.filters.get('is')?.choices;
	if (choices) return { ...baseOption, description: choices.map(({ label }) => label).join(', ') };
	// In n8n, a single sentence has no full stop.
	return applies && description ? { ...baseOption, description: description.replace(/^([^.]*)\.$/, '$1') } : baseOption;
}

async function chosenField(n8n: ILoadOptionsFunctions, context: EditorContext): Promise<FilteredField | undefined> {
	const name = n8n.getCurrentNodeParameter('&field');
	if (typeof name !== 'string' || name === '' || isExpression(name)) return undefined;
	return (await offeredFields(n8n, context)).find((field) => field.name === name);
}

/** Leaves out, in a list, what Changed Since covers and, in a trigger of records, the search, since no record shows whether it matches. */
async function offeredFields(n8n: ILoadOptionsFunctions, context: EditorContext): Promise<FilteredField[]> {
	const { description, operation, resource } = context;
	const { changed, deleted, search } = description.list ?? {};
	const isList = operation?.properties(resource).some(({ name }) => name === 'changedSince') === true;
	// The comparisons of the field cover the other two.
	const isScope = n8n.getCurrentNodeParameter('source') === 'records';
	const covered = [deleted?.parameter, changed?.since, changed?.until, ...(isScope ? [search] : [])];
	const fields = filteredFields((await filtersOf(context)).filter(({ name }) => !covered.includes(name)));
	if (!isList) return fields;
	for (const field of fields) {
		if (field.name === changed?.field) for (const comparison of ['is', 'gte', 'gt'] as const) field.filters.delete(comparison);
	}
	return fields.filter(({ filters }) => filters.size > 0);
}

async function filterChoices(api: Connection, { filters }: FilteredField): Promise<INodePropertyOptions[]> {
	const filter = filters.get('is');
	if (!filter || valueShape(filter) !== 'list') return [];
	const describedChoices = choiceOptions(filter);
	if (describedChoices || filter.target === undefined) return describedChoices ?? [];
	return (await linkOptionsOf(api, [filter])).get(filter.name) ?? [];
}
