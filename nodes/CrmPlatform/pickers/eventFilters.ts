import type { IDataObject, ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { connect } from '../api/connection';
import { everyRecord } from './everyRecord';

/** Who can own records. */
export async function getOwners(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await everyRecord(await connect(this), '/users')).map(named);
}

/** The account's pipelines. */
export async function getPipelines(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await everyRecord(await connect(this), '/pipelines')).map(named);
}

const named = ({ id, name, email }: IDataObject): INodePropertyOptions => ({
	name: String(name ?? email ?? id),
	value: String(id),
});
