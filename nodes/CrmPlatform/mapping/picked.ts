import type { IExecuteFunctions } from 'n8n-workflow';

import { filledPath } from '../api/path';
import type { Job } from '../model';

/** What was picked in a resource locator; nothing where nothing was. */
export function pickedId(n8n: IExecuteFunctions, parameter: string, item: number): string {
	const picked: unknown = n8n.getNodeParameter(parameter, item, '', { extractValue: true });
	return typeof picked === 'string' || typeof picked === 'number' ? String(picked).trim() : '';
}

/** Path of the collection an item is about, with what its records belong to. */
export function collectionPath({ n8n, resource }: Job, item: number): string {
	return `/v1${filledPath(resource.path, (parent) => pickedId(n8n, parent, item))}`;
}
