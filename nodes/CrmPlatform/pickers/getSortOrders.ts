import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { labelFor } from '../api/openapi/fields';
import { editorContext } from './editorContext';

/** The orders a list can have, as the service names them. */
export async function getSortOrders(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description } = await editorContext(this);
	return (description.list?.sort?.values ?? []).map((value) => ({ name: orderLabel(value), value }));
}

/** A minus before a field is the widespread way to say descending (JSON:API); other ways stay as they are. */
function orderLabel(value: string): string {
	return value.startsWith('-') ? `${labelFor(value.slice(1))} (Descending)` : labelFor(value);
}
