import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { firstRecords } from '../lookUp/lookUp';
import { listItem } from '../lookUp/searchList';
import { editorConnection } from './editorContext';

/** The users, who can own records. */
export async function getOwners(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await firstRecords(await editorConnection(this), '/users')).map((user) => listItem(user));
}

/** The pipelines of the account. */
export async function getPipelines(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await firstRecords(await editorConnection(this), '/pipelines')).map((pipeline) => listItem(pipeline));
}
