import type { INodeTypeDescription } from 'n8n-workflow';

import { fieldsJsonHint, describeFields } from '../parameters/fieldParameters';
import { everyday } from '../resources';
import { isSynced } from './syncProperties';

const records = describeFields(everyday.filter(isSynced), false);

/** A hint for builders of workflows, beside the parameters of a sync. */
export const syncHint: NonNullable<INodeTypeDescription['builderHint']> = {
	searchHint: 'Give it all rows of the other system at once. With preview it only says what it would do.',
	extraTypeDefContent: [{ content: `${fieldsJsonHint} Every record may have external_id. ${records}` }],
};
