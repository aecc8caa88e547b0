import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { editorContext } from './editorContext';

/** The fields a record is answered with. */
export async function getOutputFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description } = await editorContext(this);
	return description.fields.map(({ name, label }) => ({ name: label, value: name }));
}
