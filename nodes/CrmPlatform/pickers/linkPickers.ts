import {
	isExpression,
	type ILoadOptionsFunctions,
	type INodeListSearchResult,
	type INodePropertyOptions,
} from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Field } from '../fields/field';
import { linksOf } from '../api/openapi/linkFields';
import { editorContext } from './editorContext';
import { fieldsOfWrite } from './mapperFields';
import { filtersOf } from './filterPickers';
import { searchList } from '../lookUp/searchList';
import { searchParts } from './stages';

/** The links that the chosen operation writes. */
export async function getLinks(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { fields } = await fieldsOfWrite(await editorContext(this));
	return linksOf(fields).map(({ name, label }) => ({ name: label, value: name }));
}

/**
 * The records to which the field chosen in the same row can link.
 *
 * @param cursor the paginationToken of the previous page
 * @throws Error in the user's words if no field is chosen, or the service does not offer it
 */
export async function searchLinked(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const chosen = this.getCurrentNodeParameter('&field');
	if (!chosen) throw new Error('Choose a field first.');
	const { api, fields } = await linkableFields(this);
	const links = linksOf(fields);
	const link = links.find(({ name }) => name === chosen);
	if (!link) throw new Error('The CRM no longer has this field. Choose another one.');
	const { collection, part } = link;
	if (part === undefined) {
		return await searchList(api, { path: `/${collection}` }, { filter, cursor });
	}
	const ownerLink = links.find((other) => other.collection === collection && other.part === undefined);
	const picked = ownerLink && pickedFor(this, ownerLink.name);
	return await searchParts(api, { collection: `/${collection}`, part }, { picked, filter });
}

/** The fields the chosen operation takes, whether it writes them or filters by them. */
async function linkableFields(n8n: ILoadOptionsFunctions): Promise<{ api: Connection; fields: Field[] }> {
	const context = await editorContext(n8n);
	if (context.operation?.write) return await fieldsOfWrite(context);
	return { api: context.api, fields: await filtersOf(context) };
}

/** The record picked in another row: the stages offered are those of the picked pipeline. */
function pickedFor(n8n: ILoadOptionsFunctions, name: string): unknown {
	const rows = ['fieldsLinked.records', 'filters.rows', 'recordFilters.rows', 'filters.onlyIf.rows'].flatMap(
		(parameter) => (n8n.getCurrentNodeParameter(parameter) ?? []) as Row[],
	);
	const picked = rows.find(({ field }) => field === name)?.record?.value;
	// The value of an expression is known only when the node runs.
	return isExpression(picked) ? undefined : picked;
}

interface Row {
	field?: string;
	record?: { value?: unknown };
}
