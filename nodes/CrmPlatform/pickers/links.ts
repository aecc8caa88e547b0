import {
	isExpression,
	type ILoadOptionsFunctions,
	type INodeListSearchResult,
	type INodePropertyOptions,
} from 'n8n-workflow';

import { linksOf } from '../api/openapi/links';
import { acceptedFields } from './fields';
import { search } from './searchRecords';
import { searchParts } from './stages';

/** How the records of the chosen resource can refer to others. */
export async function getLinks(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { fields } = await acceptedFields(this);
	return linksOf(fields).map(({ name, label }) => ({ name: label, value: name }));
}

/**
 * The records that can stand in the field chosen beside.
 *
 * @param cursor where the last page ended
 */
export async function searchLinked(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const chosen = this.getCurrentNodeParameter('&field');
	if (!chosen) throw new Error('Choose the field first: it tells which records there are to pick.');
	const { api, fields } = await acceptedFields(this);
	const links = linksOf(fields);
	const link = links.find(({ name }) => name === chosen);
	if (!link) throw new Error('The service does not offer this field (any more). Choose another one.');
	const { resource, part } = link;
	if (part === undefined) {
		const records = { resource: `/${resource}`, collection: `/v1/${resource}` };
		return await search(api, records, { filter, cursor });
	}
	const whole = links.find((other) => other.resource === resource && other.part === undefined);
	const picked = whole && pickedFor(this, whole.name);
	return await searchParts(api, { resource: `/${resource}`, part }, { picked, filter });
}

/** What was picked in another row: of a pipeline that was, only its own stages can be. */
function pickedFor(n8n: ILoadOptionsFunctions, name: string): unknown {
	const rows = ['fieldsLinked.records', 'filtersLinked.records'].flatMap(
		(parameter) => (n8n.getCurrentNodeParameter(parameter) ?? []) as Row[],
	);
	const picked = rows.find(({ field }) => field === name)?.record?.value;
	// What an expression gives is known when the node runs.
	return isExpression(picked) ? undefined : picked;
}

interface Row {
	field?: string;
	record?: { value?: unknown };
}
