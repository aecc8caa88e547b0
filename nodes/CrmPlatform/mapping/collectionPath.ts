import { filledPath } from '../api/http/path';
import { pickedId } from './locator';
import type { Execution } from '../model';

/** Path of an item's collection, with the ids of its parents. */
export function collectionPath({ n8n, resource }: Execution, item: number): string {
	return `/v1${filledPath(resource.path, (parent) => pickedId(n8n, parent, item))}`;
}
