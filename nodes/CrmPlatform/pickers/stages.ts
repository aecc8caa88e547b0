import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { firstRecords } from '../lookUp/lookUp';
import { matchingName } from '../lookUp/searchList';
import { editorConnection } from './editorContext';
import { recordOptions } from './linkOptions';

/** The stages whose names contain `filter`, of the picked pipeline or of all pipelines. */
export async function searchStages(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	const picked = this.getCurrentNodeParameter('pipelineId', { extractValue: true });
	const stages = { collection: '/pipelines', part: 'stages' };
	return await searchParts(await editorConnection(this), stages, { picked, filter });
}

/**
 * The parts of records, such as the stages of pipelines, whose names contain `filter`.
 *
 * @param picked the id of the record they are part of; any record if empty
 */
export async function searchParts(
	api: Connection,
	{ collection, part }: { collection: string; part: string },
	{ picked, filter }: { picked: unknown; filter: string | undefined },
): Promise<INodeListSearchResult> {
	const owners = await firstRecords(api, collection);
	const selectedOwners = picked ? owners.filter(({ id }) => id === picked) : owners;
	return { results: matchingName(selectedOwners.flatMap((owner) => recordOptions(owner, part)), filter) };
}
