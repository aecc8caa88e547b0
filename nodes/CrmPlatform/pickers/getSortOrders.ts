import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { labelFor } from '../api/fields';
import { opened } from './opened';

/** The orders a list can have; a minus before the field means descending. */
export async function getSortOrders(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description } = await opened(this);
	return (description.list?.sort?.values ?? []).map((value) => ({
		name: value.startsWith('-')
			? `${labelFor(value.slice(1))} (Descending)`
			: `${labelFor(value)} (Ascending)`,
		value,
	}));
}
