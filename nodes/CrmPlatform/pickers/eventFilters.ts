import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { connect } from '../api/connection';
import { everyRecord } from './everyRecord';
import { listItem } from './searchRecords';

/** Who can own records. */
export async function getOwners(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await everyRecord(await connect(this), '/users')).map((user) => listItem(user));
}

/** The account's pipelines. */
export async function getPipelines(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await everyRecord(await connect(this), '/pipelines')).map((pipeline) => listItem(pipeline));
}
