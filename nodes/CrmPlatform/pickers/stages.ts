import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import { connect } from '../api/connection';
import { everyRecord } from './everyRecord';
import { matching } from './matching';
import { optionsOf } from './references';

/** The stages of all pipelines. */
export async function getStages(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return stagesOf(await everyRecord(await connect(this), '/pipelines'));
}

/** The stages of the pipeline that was picked, or of all of them, whose names contain `filter`. */
export async function searchStages(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	const picked = this.getCurrentNodeParameter('pipelineId', { extractValue: true });
	const pipelines = await everyRecord(await connect(this), '/pipelines');
	const stages = stagesOf(picked ? pipelines.filter(({ id }) => id === picked) : pipelines);
	return { results: matching(stages, filter) };
}

const stagesOf = (pipelines: IDataObject[]) =>
	pipelines.flatMap((pipeline) => optionsOf(pipeline, 'stages'));
