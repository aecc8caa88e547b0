import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { connect } from '../api/connection';
import { firstRecords } from '../lookUp/firstRecords';
import { listItem } from '../lookUp/recordLabels';

/** The users, who can own records. */
export async function getOwners(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await firstRecords(await connect(this), '/users')).map((user) => listItem(user));
}

/** The pipelines of the account. */
export async function getPipelines(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await firstRecords(await connect(this), '/pipelines')).map((pipeline) => listItem(pipeline));
}
