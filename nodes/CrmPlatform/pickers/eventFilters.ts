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

/** The stages of all pipelines. */
export async function getStages(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const pipelines = await everyRecord(await connect(this), '/pipelines');
	return pipelines.flatMap((pipeline) =>
		((pipeline.stages ?? []) as IDataObject[]).map((stage) => {
			const { name, value } = named(stage);
			return { name: `${String(pipeline.name)}: ${name}`, value };
		}),
	);
}

const named = ({ id, name, email }: IDataObject): INodePropertyOptions => ({
	name: String(name ?? email ?? id),
	value: String(id),
});
